import type { AuditLogEntry, AuditLogPage, AuditLogQuery, ListAuditLog } from "@/server/contract/audit";
import { readCursor, toPage } from "@/server/domain/paging";
import { auditEntry } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { csvLine } from "@/server/platform/text/csv";
import { column, int8, maybe, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { type EntryRow, toEntry } from "./entries";

type LogRow = EntryRow & {
  project_id: string | null;
  subject: string;
  details: Record<string, Json>;
  request_id: string | null;
};

const PAGE = 1_000;

/** Lists the audit entries of one organization, latest first. The caller has already checked access. */
export async function logOf(
  organizationId: string,
  { cursor, limit, ...query }: ListAuditLog,
): Promise<AuditLogPage> {
  const rows = await read(organizationId, query, readCursor("audit", cursor), limit + 1);
  return toPage(rows, limit, toLogEntry);
}

const COLUMNS: [name: string, of: (entry: AuditLogEntry) => string | null][] = [
  ["time", (entry) => entry.createdAt],
  ["action", (entry) => entry.action],
  ["actor", (entry) => entry.actor],
  ["actor_id", (entry) => entry.actorId],
  ["actor_kind", (entry) => entry.actorKind],
  ["subject", (entry) => entry.subject],
  ["project_id", (entry) => entry.projectId],
  ["address", (entry) => entry.address],
  ["request_id", (entry) => entry.requestId],
  ["details", (entry) => JSON.stringify(entry.details)],
  ["entry_id", (entry) => entry.entryId],
];

/** Streams the whole log as CSV. It is read page by page, so memory use does not grow with its length. */
export async function* logFile(
  organizationId: string,
  query: AuditLogQuery,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(csvLine(COLUMNS.map(([name]) => ({ text: name }))));
  let before: string | null = null;
  do {
    signal?.throwIfAborted();
    const rows: LogRow[] = await read(organizationId, query, before, PAGE);
    const lines = rows.map((row) => {
      const entry = toLogEntry(row);
      return csvLine(COLUMNS.map(([, of]) => textOf(of(entry))));
    });
    if (lines.length > 0) yield Buffer.from(lines.join(""));
    before = rows.length === PAGE ? (rows.at(-1)?.id ?? null) : null;
  } while (before !== null);
}

const textOf = (value: string | null) => (value === null ? null : { text: value });

const listLog = statement("audit_entry.list.log", {
  params: {
    organizationId: text,
    before: maybe(text),
    action: maybe(text),
    actor: maybe(text),
    projectId: maybe(text),
    subject: maybe(text),
    from: maybe(column<string>("date")),
    to: maybe(column<string>("date")),
    limit: int8,
  },
  row: {
    ...auditEntry,
    actor: text,
    actor_name: maybe(text),
  },
  sql: `SELECT entry.*, coalesce(person.email, key.prefix, actor_id) AS actor, coalesce(person.email, key.name) AS actor_name FROM audit_entry entry
     LEFT JOIN user_account person ON actor_kind = 'human_session' AND person.id = actor_id
     LEFT JOIN api_key key ON actor_kind = 'service_principal' AND key.id = actor_id
     WHERE entry.organization_id = $organizationId AND ($before::text IS NULL OR entry.id < $before)
       AND ($action::text IS NULL OR action = $action OR starts_with(action, $action || '.'))
       AND ($actor::text IS NULL OR actor_id = $actor OR person.email = lower($actor))
       AND ($projectId::text IS NULL OR entry.project_id = $projectId) AND ($subject::text IS NULL OR subject = $subject)
       AND ($from::date IS NULL OR entry.created_at >= $from::date::timestamp AT TIME ZONE 'UTC')
       AND ($to::date IS NULL OR entry.created_at < $to::date::timestamp AT TIME ZONE 'UTC')
     ORDER BY entry.id DESC LIMIT $limit`,
});

async function read(
  organizationId: string,
  { action, actor, projectId, subject, from, to }: AuditLogQuery,
  before: string | null,
  limit: number,
): Promise<LogRow[]> {
  const rows = await listLog.all(pool, {
    organizationId,
    before,
    action: action ?? null,
    actor: actor ?? null,
    projectId: projectId ?? null,
    subject: subject ?? null,
    from: from ?? null,
    to: to ?? null,
    limit,
  });
  return rows;
}

function toLogEntry(row: LogRow): AuditLogEntry {
  return {
    ...toEntry(row),
    projectId: row.project_id,
    subject: row.subject,
    details: row.details,
    requestId: row.request_id,
  };
}
