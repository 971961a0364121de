import type { z } from "zod";
import { batched } from "@/server/batch";
import { openContent, type StoredContent } from "@/server/content";
import type { ListPinned, PinnedPage, PinnedRecord } from "@/server/contract/pinned";
import { pool } from "@/server/db";
import { access, type OwnScope } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { nullEndedPageOf, readCursor } from "@/server/domain/paging";
import { fail } from "@/server/errors";
import { statementOver } from "@/server/sql-input";
import type { Json } from "@/server/step";
import { type CorrectionRow, toCorrection } from "./corrections";
import { toListItem, toRecord } from "./record";
import { ENDED, type PinnedAttemptRow, type PinnedRow } from "./rows";

/** The right to read records. */
export const READ = "jobs:read";

const readEnds = statementOver<{ id: string }>(
  "pin-end",
  { id: "text" },
  ` SELECT pinned.id, pinned.completed_at, pinned.plan, pinned.error, pinned.warnings
    FROM input JOIN pinned_execution pinned ON pinned.id = input.id`,
);
export type EndRow = Pick<PinnedRow, "id" | "completed_at" | "plan" | "error" | "warnings">;

/** Whether and how an execution has ended. Concurrent reads share a statement. */
export const endOf = batched<string, EndRow | null>(async (ids) => {
  const { rows } = await pool.query<EndRow>(readEnds([...new Set(ids)].map((id) => ({ id }))));
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => found.get(id) ?? null);
});

/** Every submission of these executions, the first one first. */
export async function attemptsOf(pinnedIds: string[]): Promise<Map<string, PinnedAttemptRow[]>> {
  const { rows } = await pool.query<PinnedAttemptRow>({
    name: "pin-attempts",
    text: "SELECT * FROM pinned_attempt WHERE pinned_id = ANY($1) ORDER BY pinned_id, number",
    values: [pinnedIds],
  });
  const found = new Map<string, PinnedAttemptRow[]>();
  for (const row of rows) found.set(row.pinned_id, [...(found.get(row.pinned_id) ?? []), row]);
  return found;
}

type Asked = OwnScope & { receiptId: string };
type WholeRow = {
  body: string;
  hash: string;
  signature: string;
  key_id: string;
  payloads: (StoredContent & { kind: "output" | "native" })[] | null;
  corrections: CorrectionRow[] | null;
};

const readWhole = statementOver<Asked & { place: number }>(
  "pin-record",
  {
    place: "int",
    receiptId: "text",
    organizationIds: "text[]",
    projectId: "text",
    environment: "text",
    principalId: "text",
  },
  `
SELECT input.place, record.body, record.hash, record.signature, record.key_id,
  (SELECT json_agg(json_build_object('id', id, 'kind', kind, 'content', content, 'is_sealed', is_sealed)) FROM payload
   WHERE payload.pinned_id = pinned.id AND kind IN ('output', 'native')) AS payloads,
  (SELECT json_agg(found ORDER BY found.id) FROM pinned_correction found WHERE found.pinned_id = pinned.id) AS corrections
FROM input JOIN pinned_record record ON record.id = input."receiptId"
  JOIN pinned_execution pinned ON pinned.id = record.pinned_id
    AND ("organizationIds" IS NULL OR pinned.organization_id = ANY("organizationIds"))
    AND ("projectId" IS NULL OR pinned.project_id = "projectId")
    AND (input.environment IS NULL OR pinned.environment = input.environment)
    AND ("principalId" IS NULL OR pinned.principal_id = "principalId")`,
);

/** A record with what stands beside it, where this scope may see it. Concurrent reads share a statement. */
export const wholeRecord = batched<Asked, PinnedRecord | null>(async (asked) => {
  const { rows } = await pool.query<WholeRow & { place: number }>(
    readWhole(asked.map((each, place) => ({ ...each, place }))),
  );
  const found = new Map(rows.map((row) => [row.place, row]));
  return asked.map((_, place) => {
    const row = found.get(place);
    return row ? fromRow(row) : null;
  });
});

function fromRow({ body, hash, signature, key_id, payloads, corrections }: WholeRow): PinnedRecord {
  const contentOf = (kind: "output" | "native"): Json | undefined => {
    const kept = payloads?.find((payload) => payload.kind === kind);
    const content = kept ? openContent(kept) : null;
    return content === null ? undefined : JSON.parse(content);
  };
  const output = contentOf("output");
  const native = contentOf("native");
  return toRecord(
    { body, hash, signature, keyId: key_id },
    {
      output: (output ?? null) as PinnedRecord["output"], // written from this very type
      ...(native === undefined ? {} : { native }),
      corrections: (corrections ?? []).map(toCorrection),
    },
  );
}

/**
 * The immutable record of a pinned execution. Somebody else's and none at all are the same NotFound; JobNotFinished while
 * it runs.
 */
export async function get(ctx: Ctx, receiptId: string): Promise<PinnedRecord> {
  const scope = access.authorize(ctx, READ, "made rows");
  const record = await wholeRecord({ receiptId, ...scope });
  if (record) return record;
  const { rows } = await pool.query<Pick<PinnedRow, "status">>({
    name: "pin-of-receipt",
    text: `SELECT status FROM pinned_execution WHERE id = 'pin_' || substr($1, 6) AND left($1, 5) = 'rcpt_'
       AND ($2::text[] IS NULL OR organization_id = ANY($2)) AND ($3::text IS NULL OR project_id = $3)
       AND ($4::text IS NULL OR environment = $4) AND ($5::text IS NULL OR principal_id = $5)`,
    values: [receiptId, scope.organizationIds, scope.projectId, scope.environment, scope.principalId],
  });
  const [row] = rows;
  if (!row || ENDED.includes(row.status)) fail("NotFound", "There is no such receipt.");
  fail("JobNotFinished", "This execution has not ended, so its record is not sealed yet.", {
    status: row.status,
  });
}

/** Records of a project, newest first; of one bulk where it is named. */
export async function list(
  ctx: Ctx,
  { projectId, bulkId, limit, cursor }: z.output<typeof ListPinned>,
): Promise<PinnedPage> {
  const project = await access.authorize(ctx, READ, { projectId });
  const { environment } = access.authorize(ctx, READ, "rows");
  const { rows } = await pool.query<{ id: string; body: string }>(
    `SELECT record.id, record.body FROM pinned_record record
     WHERE record.project_id = $1 AND ($2::text IS NULL OR record.id < $2)
       AND (($3::text IS NULL AND $4::text IS NULL) OR EXISTS (
         SELECT FROM pinned_execution pinned WHERE pinned.id = record.pinned_id
           AND ($3 IS NULL OR pinned.bulk_id = $3) AND ($4 IS NULL OR pinned.environment = $4)))
     ORDER BY record.id DESC LIMIT $5`,
    [project.id, readCursor("receipt", cursor), bulkId ?? null, environment, limit + 1],
  );
  return nullEndedPageOf(rows, limit, ({ body }) => toListItem(body));
}
