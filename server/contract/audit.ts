import { z } from "zod";
import { DateTime, JsonValue, pageLimit } from "./common";

/** One act: who did what, when and from where. */
export const AuditEntry = z.object({
  entryId: z.string(),
  /** e.g. capability_request.quoted */
  action: z.string(),
  actorId: z.string(),
  actorKind: z.string(),
  /** What the actor is known by: the email of a person, the first characters of a key; else its id. */
  actor: z.string(),
  /** What people call the actor: the email of a person, the name of a key; null: the system, or an actor that is gone. */
  actorName: z.string().nullable(),
  /** Null: no one asked by name, or it is not known. */
  address: z.string().nullable(),
  createdAt: DateTime,
});
export type AuditEntry = z.output<typeof AuditEntry>;

export const ListAuditEntries = z.object({
  /** The ids of what it was done to. */
  subjects: z.array(z.string().min(1).max(64)).min(1).max(100),
  /** The `nextCursor` of the previous page. */
  cursor: z.string().max(64).optional(),
  limit: pageLimit(100, 25),
});
export type ListAuditEntries = z.output<typeof ListAuditEntries>;
export const AuditPage = z.object({ items: z.array(AuditEntry), nextCursor: z.string().optional() });
export type AuditPage = z.output<typeof AuditPage>;

const Id = z.string().min(1).max(64);

/** Which acts of an organization are wanted; what is not given does not narrow them. */
export const AuditLogQuery = z.object({
  /** An action, or its beginning up to a point: `key` is all of `key.created`, `key.rotated` …. */
  action: z
    .string()
    .regex(/^[a-z_]+(\.[a-z_]+)?$/)
    .max(64)
    .optional()
    .meta({
      description: "An action, or the part before its dot: `key` matches `key.created` and so on.",
    }),
  /** The id of a person or a key, or a person's email. */
  actor: z.string().min(1).max(254).optional().meta({ description: "An id, or a person's email address." }),
  projectId: Id.optional(),
  subject: Id.optional(),
  from: z.iso.date().optional().meta({ description: "The first day included, in UTC." }),
  to: z.iso.date().optional().meta({ description: "The first day not included, in UTC." }),
});
export type AuditLogQuery = z.output<typeof AuditLogQuery>;

export const ListAuditLog = AuditLogQuery.extend({
  cursor: z.string().max(64).optional().meta({ description: "The `nextCursor` of the previous page." }),
  limit: pageLimit(200, 50),
});
export type ListAuditLog = z.output<typeof ListAuditLog>;

export const AuditLogEntry = AuditEntry.extend({
  projectId: z.string().nullable(),
  /** The id of what it was done to. */
  subject: z.string(),
  details: z.record(z.string(), JsonValue),
  requestId: z.string().nullable(),
}).meta({ id: "AuditLogEntry" });
export type AuditLogEntry = z.output<typeof AuditLogEntry>;

export const AuditLogPage = z
  .object({ items: z.array(AuditLogEntry), nextCursor: z.string().optional() })
  .meta({ id: "AuditLogPage" });
export type AuditLogPage = z.output<typeof AuditLogPage>;
