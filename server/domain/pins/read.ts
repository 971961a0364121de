import type { z } from "zod";
import type { ListPinned, PinnedPage, PinnedRecord } from "@/server/contract/pinned-records";
import { access, type OwnScope } from "@/server/domain/access";
import { openContent, type StoredContent } from "@/server/domain/content";
import type { Ctx } from "@/server/domain/ctx";
import { nullEndedPageOf, readCursor } from "@/server/domain/paging";
import { pinnedExecution, pinnedRecord } from "@/server/generated/schema";
import { readTogether } from "@/server/platform/batch";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail } from "@/server/platform/errors/errors";
import { int4, int8, json, maybe, names, type Of, pick, text, texts } from "@/server/sql/column";
import { batch, statement } from "@/server/sql/statement";
import { IN_SCOPE, inScope, inScopeOfInput, readInScope, SCOPE } from "@/server/sql/tenant";
import { type CorrectionRow, toCorrection } from "./corrections";
import { toPinListItem, toRecord } from "./record";
import { PIN_ENDED, PINNED_ATTEMPT, type PinnedAttemptRow } from "./rows";

/** The right to read records. */
export const READ = "jobs:read";

const END = pick(pinnedExecution, "id", "completed_at", "plan", "error", "warnings");
const readEnds = batch("pin-end", {
  input: { place: int4, id: text },
  row: { place: int4, ...END },
  sql: `WITH input AS $input SELECT input.place, ${names(END, "pinned")} FROM input JOIN pinned_execution pinned ON pinned.id = input.id`,
});

/** Reads the columns that show if and how an execution ended. Concurrent reads share a statement. */
export const endOf = readTogether<{ id: string }, Of<typeof END> & { place: number }>((asked) =>
  readEnds.all(pool, asked),
);

const readAttempts = statement("pin-attempts", {
  params: { pinnedIds: texts },
  row: PINNED_ATTEMPT,
  prepared: true,
  sql: `SELECT ${names(PINNED_ATTEMPT)} FROM pinned_attempt WHERE pinned_id = ANY($pinnedIds) ORDER BY pinned_id, number`,
});

/** All submissions of these executions, earliest first. */
export async function listPinAttempts(pinnedIds: string[]): Promise<Map<string, PinnedAttemptRow[]>> {
  const rows = await readAttempts.all(pool, { pinnedIds });
  const found = new Map<string, PinnedAttemptRow[]>();
  for (const row of rows) found.set(row.pinned_id, [...(found.get(row.pinned_id) ?? []), row]);
  return found;
}

const NAMED = { receiptId: text, ...SCOPE };
const WHOLE = {
  place: int4,
  ...pick(pinnedRecord, "body", "hash", "signature", "key_id"),
  payloads: json<(StoredContent & { kind: "output" | "native" })[] | null>(),
  corrections: json<CorrectionRow[] | null>(),
};
const readWhole = batch("pin-record", {
  input: { place: int4, ...NAMED },
  row: WHOLE,
  sql: `WITH input AS $input
SELECT input.place, record.body, record.hash, record.signature, record.key_id,
  (SELECT json_agg(json_build_object('id', id, 'kind', kind, 'content', content, 'is_sealed', is_sealed)) FROM payload
   WHERE payload.pinned_id = pinned.id AND kind IN ('output', 'native')) AS payloads,
  (SELECT json_agg(found ORDER BY found.id) FROM pinned_correction found WHERE found.pinned_id = pinned.id) AS corrections
FROM input JOIN pinned_record record ON record.id = input."receiptId"
  JOIN pinned_execution pinned ON pinned.id = record.pinned_id AND ${inScopeOfInput("pinned")}`,
});

const rowOf = readTogether<OwnScope & { receiptId: string }, Of<typeof WHOLE>>((asked) =>
  readWhole.all(pool, asked),
);

/**
 * A record with its content and corrections; null if there is none that this scope may see. Concurrent reads
 * share a statement.
 */
export async function wholeRecord(asked: OwnScope & { receiptId: string }): Promise<PinnedRecord | null> {
  const row = await rowOf(asked);
  return row && fromRow(row);
}

function fromRow({ body, hash, signature, key_id, payloads, corrections }: Of<typeof WHOLE>): PinnedRecord {
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
      output: (output ?? null) as PinnedRecord["output"], // it was written from this type
      ...(native === undefined ? {} : { native }),
      corrections: (corrections ?? []).map(toCorrection),
    },
  );
}

const statusOf = statement("pin-of-receipt", {
  params: NAMED,
  row: pick(pinnedExecution, "status"),
  prepared: true,
  sql: `SELECT status FROM pinned_execution WHERE id = 'pin_' || substr($receiptId, 6) AND left($receiptId, 5) = 'rcpt_'
    AND ${IN_SCOPE}`,
});

/**
 * The immutable record of a pinned execution. Throws the same NotFound for a missing receipt and for one of
 * another tenant; throws JobNotFinished until the execution has ended.
 */
export async function get(ctx: Ctx, receiptId: string): Promise<PinnedRecord> {
  const scope = access.authorize(ctx, READ, "made rows");
  const record = await wholeRecord({ receiptId, ...scope });
  if (record) return record;
  const [row] = await readInScope(statusOf, scope, { receiptId });
  if (!row || PIN_ENDED.includes(row.status)) fail("NotFound", "There is no such receipt.");
  fail("JobNotFinished", "This execution has not ended, so its record is not sealed yet.", {
    status: row.status,
  });
}

const LISTED = {
  params: {
    projectId: text,
    before: maybe(text),
    ...pick(SCOPE, "environment"),
    limit: int8,
  },
  row: pick(pinnedRecord, "id", "body"),
};
/** SQL: executions with a record before the page's cursor; a record has the ULID of its execution. */
const RECORDED = "receipt_id IS NOT NULL AND ($before::text IS NULL OR id < 'pin_' || substr($before, 6))";
/** SQL: the records of these executions, newest first. */
const recordsOf = (executions: string) => `SELECT record.id, record.body FROM (${executions}) pinned
    JOIN LATERAL (SELECT id, body FROM pinned_record WHERE pinned_id = pinned.id OFFSET 0) record ON true
    ORDER BY record.id DESC`;
/** The records of a project, read in the order of one index, environment by environment. */
const listRecords = statement("pin-records", {
  ...LISTED,
  sql: recordsOf(`SELECT each.id FROM environment JOIN LATERAL (
      SELECT id FROM pinned_execution
      WHERE project_id = $projectId AND environment = environment.slug AND ${RECORDED} ORDER BY id DESC LIMIT $limit
    ) each ON true
    WHERE environment.project_id = $projectId AND ($environment::text IS NULL OR environment.slug = $environment)
    ORDER BY each.id DESC LIMIT $limit`),
});
/** The records of a bulk, which has at most 10,000 items. */
const listRecordsOfBulk = statement("pin-records-of-bulk", {
  params: { ...LISTED.params, bulkId: text },
  row: LISTED.row,
  sql: recordsOf(`SELECT id FROM pinned_execution
      WHERE project_id = $projectId AND ${inScope(pick(SCOPE, "environment"))} AND bulk_id = $bulkId AND ${RECORDED}
      ORDER BY id DESC LIMIT $limit`),
});

/** Records of a project, newest first; only those of one bulk if `bulkId` is given. */
export async function list(
  ctx: Ctx,
  { projectId, bulkId, limit, cursor }: z.output<typeof ListPinned>,
): Promise<PinnedPage> {
  const project = await access.authorize(ctx, READ, { projectId });
  const { environment } = access.authorize(ctx, READ, "rows");
  const scope = { projectId: project.id, environment };
  const page = { before: readCursor("receipt", cursor), limit: limit + 1 };
  const rows = bulkId
    ? await readInScope(listRecordsOfBulk, scope, { ...page, bulkId })
    : await readInScope(listRecords, scope, page);
  return nullEndedPageOf(rows, limit, ({ body }) => toPinListItem(body));
}
