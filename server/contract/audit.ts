import { z } from "zod";
import { DateTime, pageLimit } from "./common";

/** One act: who did what, when and from where. */
export const AuditEntry = z.object({
  entryId: z.string(),
  /** e.g. capability_request.quoted */
  action: z.string(),
  actorId: z.string(),
  actorKind: z.string(),
  /** What the actor is known by: the e-mail of a person, the first characters of a key; else its id. */
  actor: z.string(),
  /** Null: nobody asked by name, or it is not known. */
  address: z.string().nullable(),
  createdAt: DateTime,
});
export type AuditEntry = z.output<typeof AuditEntry>;

export const ListAuditEntries = z.object({
  /** The ids of what it was done to. */
  subjects: z.array(z.string().min(1).max(64)).min(1).max(100),
  /** The `nextCursor` of the page before. */
  cursor: z.string().max(64).optional(),
  limit: pageLimit(100, 25),
});
export type ListAuditEntries = z.output<typeof ListAuditEntries>;
export const AuditPage = z.object({ items: z.array(AuditEntry), nextCursor: z.string().optional() });
export type AuditPage = z.output<typeof AuditPage>;
