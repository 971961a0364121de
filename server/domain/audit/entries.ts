import type { AuditPage, ListAuditEntries } from "@/server/contract/audit";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { readCursor, toPage } from "@/server/domain/paging";
import { auditEntry } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { int8, maybe, pick, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

export type EntryRow = {
  id: string;
  action: string;
  actor_id: string;
  actor_kind: string;
  actor: string;
  actor_name: string | null;
  address: string | null;
  created_at: Date;
};

const listEntries = statement("audit_entry.list.subjects", {
  params: { subjects: texts, before: maybe(text), limit: int8 },
  row: {
    ...pick(auditEntry, "id action actor_id actor_kind address created_at"),
    actor: text,
    actor_name: maybe(text),
  },
  sql: `SELECT entry.id, action, actor_id, actor_kind, address, entry.created_at,
       coalesce(person.email, key.prefix, actor_id) AS actor, coalesce(person.email, key.name) AS actor_name
     FROM audit_entry entry
     LEFT JOIN user_account person ON actor_kind = 'human_session' AND person.id = actor_id
     LEFT JOIN api_key key ON actor_kind = 'service_principal' AND key.id = actor_id
     WHERE subject = ANY($subjects) AND ($before::text IS NULL OR entry.id < $before)
     ORDER BY entry.id DESC LIMIT $limit`,
});

/** Lists the audit entries of the given subjects, latest first. For operators. */
export async function entries(ctx: Ctx, { subjects, cursor, limit }: ListAuditEntries): Promise<AuditPage> {
  access.authorize(ctx, "operator");
  const rows = await listEntries.all(pool, {
    subjects,
    before: readCursor("audit", cursor),
    limit: limit + 1,
  });
  return toPage(rows, limit, toEntry);
}

/** Fields that both views of an entry share. */
export const toEntry = (row: EntryRow) => ({
  entryId: row.id,
  action: row.action,
  actorId: row.actor_id,
  actorKind: row.actor_kind,
  actor: row.actor,
  actorName: row.actor_name,
  address: row.address,
  createdAt: row.created_at.toISOString(),
});
