import { z } from "zod";
import { DateTime, JsonValue, pageLimit } from "./common";

export const AuditEntry = z.object({
  entryId: z.string(),
  /** For example `capability_request.quoted`. */
  action: z.string(),
  actorId: z.string(),
  actorKind: z.string(),
  /** A person's email address or the first characters of a key; otherwise the actor's id. */
  actor: z.string(),
  /** A person's email address or a key's name; null for every other actor, and for one that no longer exists. */
  actorName: z.string().nullable(),
  /** The client address; null if the system acted or the address is unknown. */
  address: z.string().nullable(),
  createdAt: DateTime,
});
export type AuditEntry = z.output<typeof AuditEntry>;

export const ListAuditEntries = z.object({
  /** Ids of the objects that were changed. */
  subjects: z.array(z.string().min(1).max(64)).min(1).max(100),
  cursor: z.string().max(64).optional(),
  limit: pageLimit(100, 25),
});
export type ListAuditEntries = z.output<typeof ListAuditEntries>;
export const AuditPage = z.object({ items: z.array(AuditEntry), nextCursor: z.string().optional() });
export type AuditPage = z.output<typeof AuditPage>;

const Id = z.string().min(1).max(64);

/** Filters of the audit log; a filter that is left out excludes no entry. */
export const AuditLogQuery = z.object({
  /** An action, or the part before its dot: `key` matches `key.created`, `key.rotated` and so on. */
  action: z
    .string()
    .regex(/^[a-z_]+(\.[a-z_]+)?$/)
    .max(64)
    .optional()
    .meta({
      description: "An action, or the part before its dot: `key` matches `key.created` and so on.",
    }),
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
  /** Id of the object that was changed. */
  subject: z.string(),
  details: z.record(z.string(), JsonValue),
  requestId: z.string().nullable(),
}).meta({ id: "AuditLogEntry" });
export type AuditLogEntry = z.output<typeof AuditLogEntry>;

export const AuditLogPage = z
  .object({ items: z.array(AuditLogEntry), nextCursor: z.string().optional() })
  .meta({ id: "AuditLogPage" });
export type AuditLogPage = z.output<typeof AuditLogPage>;
