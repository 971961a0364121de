import type { UsageExportQuery } from "@/server/contract/usage";
import { csvLine } from "@/server/csv";
import { pool } from "@/server/db";
import { SANDBOX } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { ValidationFault } from "@/server/errors";
import { ENDED, FEE, KIND_PREFIXES, USED } from "./count";
import { dayAt } from "./days";
import { COLUMNS, chargesOf, type ExportRow } from "./focus";
import { type UsageScope, usageScope } from "./scope";

const DAY_MS = 86_400_000;
const MOST_DAYS = 92;
const PAGE = 1000;

export type UsageFile = { filename: string; content: AsyncIterable<Uint8Array> };

/**
 * Every ended execution that was submitted in these days, as a table of FOCUS 1.2. It is read page by page while it is
 * sent, so its length costs no memory.
 */
export async function usageFile(ctx: Ctx, query: UsageExportQuery): Promise<UsageFile> {
  const [from, to] = [Date.parse(query.from), Date.parse(query.to)];
  const refuse = (msg: string): never => {
    throw new ValidationFault([{ loc: ["query", "to"], msg, type: "value_error" }]);
  };
  if (to <= from) refuse("`to` must be after `from`: it is the first day not included.");
  if (to - from > MOST_DAYS * DAY_MS) refuse(`An export covers at most ${MOST_DAYS} days.`);
  const scope = await usageScope(ctx, query);
  return {
    filename: `usage-${query.from}-${query.to}.csv`,
    content: lines(scope, dayAt(from).fromUlid, dayAt(to).fromUlid, ctx.signal?.()),
  };
}

async function* lines(
  scope: UsageScope,
  fromUlid: string,
  untilUlid: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(csvLine(COLUMNS.map(([name]) => ({ text: name }))));
  for (const projectId of scope.projects.keys()) {
    for (const prefix of KIND_PREFIXES) {
      let after: string | null = null;
      do {
        signal?.throwIfAborted();
        const from: string = after ?? prefix + fromUlid;
        const rows: PagedRow[] = await page(projectId, from, after === null, prefix + untilUlid);
        const told = rows
          .filter(({ is_blind }) => !is_blind)
          .flatMap((row) =>
            chargesOf(row).map((charge) => csvLine(COLUMNS.map(([, of]) => of(row, charge, scope)))),
          );
        if (told.length > 0) yield Buffer.from(told.join(""));
        after = rows.length === PAGE ? (rows.at(-1)?.id ?? null) : null;
      } while (after !== null);
    }
    const compared = (await comparisonsOf(projectId, fromUlid, untilUlid)).flatMap((row) =>
      chargesOf(row).map((charge) => csvLine(COLUMNS.map(([, of]) => of(row, charge, scope)))),
    );
    if (compared.length > 0) yield Buffer.from(compared.join(""));
  }
}

type PagedRow = ExportRow & { is_blind: boolean };

/** The next executions of a project, by the index of its ids. Those of comparisons that nobody has judged are told otherwise. */
async function page(projectId: string, from: string, isFirst: boolean, untilId: string): Promise<PagedRow[]> {
  const { rows } = await pool.query<PagedRow>({
    name: isFirst ? "usage-export" : "usage-export-on",
    text: `SELECT execution.id, execution.project_id, environment, product_id, execution.principal_id, capability_key, provider,
       model, mode, status, execution.billing_mode, external_ref, tags, pricing_version, execution.created_at, completed_at,
       actual_micros, receipt_id, hold.state AS hold_state, hold.settled_micros, hold.funding, hold.resolved_by,
       hold.resolved_at, (${FEE})::bigint AS fee_micros, is_blind, used.*
     FROM execution
     LEFT JOIN hold ON hold.execution_id = execution.id
     ${USED}
     WHERE execution.project_id = $1 AND execution.id ${isFirst ? ">=" : ">"} $2 AND execution.id < $3 AND ${ENDED}
     ORDER BY execution.id LIMIT ${PAGE}`,
    values: [projectId, from, untilId],
  });
  return rows;
}

/**
 * Comparisons of these days that nobody has judged and no part of which is open any more: a line for each way they were
 * paid, with its sum. Judged, they are told execution by execution instead.
 */
async function comparisonsOf(projectId: string, fromUlid: string, untilUlid: string): Promise<ExportRow[]> {
  const [prefix] = KIND_PREFIXES; // of jobs
  const { rows } = await pool.query<ExportRow>({
    name: "usage-export-comparisons",
    text: `SELECT execution.comparison_id AS id, execution.project_id, environment, product_id, execution.principal_id, capability_key,
       '' AS provider, '' AS model, mode, 'unjudged' AS status, execution.billing_mode, NULL AS external_ref, tags, '' AS pricing_version,
       min(execution.created_at) AS created_at, min(execution.created_at) AS completed_at,
       sum(actual_micros)::bigint AS actual_micros, NULL AS receipt_id, 'settled' AS hold_state,
       coalesce(sum(hold.settled_micros), 0)::bigint AS settled_micros, hold.funding, NULL AS resolved_by, NULL AS resolved_at,
       sum(${FEE})::bigint AS fee_micros, sum(used.input_tokens)::bigint AS input_tokens,
       sum(used.output_tokens)::bigint AS output_tokens, sum(used.images)::bigint AS images,
       execution.provider = '${SANDBOX}' AS is_test
     FROM execution
     LEFT JOIN hold ON hold.execution_id = execution.id
     ${USED}
     WHERE execution.project_id = $1 AND execution.id >= $2 AND execution.id < $3 AND execution.is_blind
       AND execution.organization_id = (SELECT organization_id FROM project WHERE id = $1) AND NOT execution.is_veiled
     GROUP BY execution.comparison_id, execution.project_id, environment, product_id, execution.principal_id, capability_key, mode,
       execution.billing_mode, tags, hold.funding, execution.provider = '${SANDBOX}'
     ORDER BY execution.comparison_id`,
    values: [projectId, prefix + fromUlid, prefix + untilUlid],
  });
  return rows;
}
