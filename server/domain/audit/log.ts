import type { AuditLogEntry, AuditLogPage, AuditLogQuery, ListAuditLog } from "@/server/contract/audit";
import {
  earlierOf,
  floorWithin,
  idsBetween,
  laterOf,
  pageFloor,
  readCursor,
  toPage,
} from "@/server/domain/paging";
import { auditEntry, userAccount } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { csvLine } from "@/server/platform/text/csv";
import { column, int8, maybe, pick, present, text, texts } from "@/server/sql/column";
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
  const { rows, floor } = await read(organizationId, query, {
    cursor: readCursor("audit", cursor),
    limit: limit + 1,
    isBounded: true,
  });
  return toPage(rows, limit, toLogEntry, floor);
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

/**
 * Streams all matching entries as CSV. They are read page by page, so memory use does not grow with their
 * number.
 */
export async function* logFile(
  organizationId: string,
  query: AuditLogQuery,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(csvLine(COLUMNS.map(([name]) => ({ text: name }))));
  let before: string | null = null;
  do {
    signal?.throwIfAborted();
    const { rows }: { rows: LogRow[] } = await read(organizationId, query, {
      cursor: before,
      limit: PAGE,
      isBounded: false,
    });
    const lines = rows.map((row) => {
      const entry = toLogEntry(row);
      return csvLine(COLUMNS.map(([, of]) => textOf(of(entry))));
    });
    if (lines.length > 0) yield Buffer.from(lines.join(""));
    before = rows.length === PAGE ? (rows.at(-1)?.id ?? null) : null;
  } while (before !== null);
}

const textOf = (value: string | null) => (value === null ? null : { text: value });

const SOUGHT = {
  organizationId: text,
  before: maybe(text),
  notBefore: maybe(text),
  action: maybe(text),
  actorId: maybe(text),
  projectId: maybe(text),
  subject: maybe(text),
  from: maybe(column<string>("date")),
  to: maybe(column<string>("date")),
  limit: int8,
};
const LINE = { ...auditEntry, actor: text, actor_name: maybe(text) };
const IS_SOUGHT = `entry.organization_id = $organizationId AND ($before::text IS NULL OR entry.id < $before)
       AND ($notBefore::text IS NULL OR entry.id >= $notBefore) AND ($actorId::text IS NULL OR actor_id = $actorId)
       AND ($projectId::text IS NULL OR entry.project_id = $projectId) AND ($subject::text IS NULL OR subject = $subject)
       AND ($from::date IS NULL OR entry.created_at >= $from::date::timestamp AT TIME ZONE 'UTC')
       AND ($to::date IS NULL OR entry.created_at < $to::date::timestamp AT TIME ZONE 'UTC')`;
/**
 * SQL: one page of these entries with the names of their actors, which are looked up only for the entries of
 * the page.
 */
const withActors = (
  entries: string,
) => `SELECT entry.*, coalesce(person.email, key.prefix, actor_id) AS actor,
       coalesce(person.email, key.name) AS actor_name FROM (${entries} ORDER BY entry.id DESC LIMIT $limit) entry
     LEFT JOIN user_account person ON actor_kind = 'human_session' AND person.id = actor_id
     LEFT JOIN api_key key ON actor_kind = 'service_principal' AND key.id = actor_id
     ORDER BY entry.id DESC`;

const listLog = statement("audit_entry.list.log", {
  params: SOUGHT,
  row: LINE,
  sql: withActors(`SELECT entry.* FROM audit_entry entry
     WHERE ${IS_SOUGHT} AND ($action::text IS NULL OR action = $action OR starts_with(action, $action || '.'))`),
});

/**
 * The same for a filter by action alone: reads the entries of each matching action in order, and takes the
 * newest of all.
 */
const listLogOfActions = statement("audit_entry.list.log_of_actions", {
  params: { ...SOUGHT, action: texts },
  row: LINE,
  sql: withActors(`SELECT entry.* FROM unnest($action::text[]) AS kind(action), LATERAL (
       SELECT entry.* FROM audit_entry entry WHERE ${IS_SOUGHT} AND entry.action COLLATE "C" = kind.action
       ORDER BY entry.id DESC LIMIT $limit
     ) entry`),
});

/** This action, and those in the log that begin with it and a dot, each found with one index lookup. */
const listActions = statement("audit_entry.list.actions", {
  params: { organizationId: text, action: text },
  row: { action: present(text, "the last step, which finds none, is left out") },
  sql: `WITH RECURSIVE known(action) AS (
      SELECT $action::text
      UNION ALL SELECT (
        SELECT entry.action FROM audit_entry entry WHERE entry.organization_id = $organizationId
          AND entry.action COLLATE "C" > greatest(known.action COLLATE "C", $action || '.') AND entry.action COLLATE "C" < $action || '/'
        ORDER BY entry.action COLLATE "C" LIMIT 1
      ) FROM known WHERE known.action IS NOT NULL
    ) SELECT action FROM known WHERE action IS NOT NULL`,
});

const findPerson = statement("user_account.find.by_email", {
  params: { email: text },
  row: pick(userAccount, "id"),
  sql: "SELECT id FROM user_account WHERE email = lower($email)",
});

const floorIn = pageFloor("audit_entry.read.last", {
  kind: "audit",
  table: "audit_entry",
  place: "organization_id",
});

/**
 * Reads the matching entries, latest first. With `isBounded`, a page reads no more than its bound, and `floor`
 * is where it stopped; null if no bound was reached.
 */
async function read(
  organizationId: string,
  { action, actor, projectId, subject, from, to }: AuditLogQuery,
  { cursor, limit, isBounded }: { cursor: string | null; limit: number; isBounded: boolean },
): Promise<{ rows: LogRow[]; floor: string | null }> {
  const actorId = actor?.includes("@") ? (await findPerson.first(pool, { email: actor }))?.id : actor;
  if (actor && !actorId) return { rows: [], floor: null };
  const window = idsBetween("audit", from ? new Date(from) : null, to ? new Date(to) : null);
  const before = earlierOf(cursor, window.above);
  const asked = [action, actor, projectId, subject].filter((each) => each !== undefined).length;
  const isServed = asked === 0 || subject !== undefined || (asked === 1 && projectId === undefined);
  const floor = isServed || !isBounded ? null : await floorIn(organizationId, before);
  const sought = {
    organizationId,
    before,
    notBefore: laterOf(window.least, floor),
    actorId: actorId ?? null,
    projectId: projectId ?? null,
    subject: subject ?? null,
    from: from ?? null,
    to: to ?? null,
    limit,
  };
  const isByAction = action !== undefined && asked === 1;
  const rows = isByAction
    ? await listLogOfActions.all(pool, { ...sought, action: await actionsOf(organizationId, action) })
    : await listLog.all(pool, { ...sought, action: action ?? null });
  return { rows, floor: floorWithin(floor, window.least) };
}

const actionsOf = async (organizationId: string, action: string) =>
  (await listActions.all(pool, { organizationId, action })).map((found) => found.action);

function toLogEntry(row: LogRow): AuditLogEntry {
  return {
    ...toEntry(row),
    projectId: row.project_id,
    subject: row.subject,
    details: row.details,
    requestId: row.request_id,
  };
}
