import type { UsageExportQuery } from "@/server/contract/usage";
import { FEE } from "@/server/domain/budgets";
import type { Ctx } from "@/server/domain/ctx";
import { CHARGED, PROVIDER_COST } from "@/server/domain/executions";
import { pool } from "@/server/platform/db";
import { ValidationFault } from "@/server/platform/errors/errors";
import { csvLine } from "@/server/platform/text/csv";
import { DAY_MS } from "@/server/platform/time/units";
import { bool, column, int8, maybe, present, text, texts, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { HAS_ENDED, KIND_PREFIXES, USED } from "./count";
import { dayAt } from "./days";
import { chargesOf, type ExportRow, FOCUS_COLUMNS } from "./focus";
import { type UsageScope, usageScope } from "./scope";

const MOST_DAYS = 92;
const PAGE = 1000;

export type UsageFile = { filename: string; content: AsyncIterable<Uint8Array> };

/**
 * Returns every ended execution submitted on these days as a FOCUS 1.2 table. It is read page by page while
 * being sent, so memory use does not grow with its length.
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
  yield Buffer.from(csvLine(FOCUS_COLUMNS.map(([name]) => ({ text: name }))));
  for (const projectId of scope.projects.keys()) {
    const shared = new Map<string, ExportRow>();
    for (const prefix of KIND_PREFIXES) {
      let after: string | null = null;
      do {
        signal?.throwIfAborted();
        const from: string = after ?? prefix + fromUlid;
        const rows: ExportRow[] = await page(projectId, from, after === null, prefix + untilUlid);
        const own = rows.filter((row) => row.line_id === row.id);
        for (const row of rows) if (row.line_id !== row.id) addTo(shared, row);
        if (own.length > 0) yield toLines(own, scope);
        after = rows.length === PAGE ? (rows.at(-1)?.id ?? null) : null;
      } while (after !== null);
    }
    if (shared.size > 0) yield toLines([...shared.values()], scope);
  }
}

const toLines = (rows: ExportRow[], scope: UsageScope) =>
  Buffer.from(
    rows
      .flatMap((row) =>
        chargesOf(row).map((charge) => csvLine(FOCUS_COLUMNS.map(([, of]) => of(row, charge, scope)))),
      )
      .join(""),
  );

/**
 * Adds an execution to the shared line of its comparison. Each billing mode, and live and test money, has its
 * own line under the id of the comparison.
 */
function addTo(lines: Map<string, ExportRow>, row: ExportRow): void {
  const name = [row.line_id, row.billing_mode, row.is_test].join(" ");
  const line = lines.get(name) ?? { ...row, id: row.line_id, hold_state: "settled", ...NOTHING };
  line.charged_micros += row.charged_micros;
  line.fee_micros += row.fee_micros;
  for (const figure of FIGURES)
    line[figure] = row[figure] === null ? line[figure] : (line[figure] ?? 0) + row[figure];
  if (row.funding === "wallet") line.funding = row.funding;
  line.is_estimated ||= row.is_estimated;
  lines.set(name, line);
}

const NOTHING = {
  charged_micros: 0,
  actual_micros: null,
  cost_micros: null,
  fee_micros: 0,
  input_tokens: null,
  output_tokens: null,
  images: null,
};
const FIGURES = ["actual_micros", "cost_micros", "input_tokens", "output_tokens", "images"] as const;

/**
 * SQL condition: the cost of this execution of the view is our estimate, according to its attempts or its
 * pinned record.
 */
const IS_ESTIMATED = `(EXISTS (SELECT FROM attempt WHERE attempt.job_id = execution.job_id AND attempt.answer ? 'estimated')
    OR EXISTS (SELECT FROM pinned_record WHERE pinned_record.pinned_id = execution.pinned_id AND body::jsonb ? 'costBasis'))`;

const EXPORT = {
  id: text,
  line_id: present(text, "its own id, or the comparison of a blind job"),
  project_id: text,
  environment: text,
  product_id: text,
  principal_id: text,
  capability_key: text,
  provider: text,
  model: text,
  mode: text,
  status: text,
  billing_mode: text,
  external_ref: maybe(text),
  tags: present(texts, "a list of the job, or made as one from the plan"),
  pricing_version: present(text, "written at admission, in the row or its plan"),
  created_at: timestamptz,
  completed_at: present(timestamptz, "only executions that ended are selected"),
  actual_micros: maybe(int8),
  cost_micros: maybe(int8),
  receipt_id: maybe(text),
  hold_state: maybe(column<NonNullable<ExportRow["hold_state"]>>("text")),
  charged_micros: present(int8, "0 where nothing is charged"),
  funding: maybe(column<NonNullable<ExportRow["funding"]>>("text")),
  resolved_by: maybe(text),
  resolved_at: maybe(timestamptz),
  fee_micros: int8,
  is_test: bool,
  is_estimated: bool,
  input_tokens: maybe(int8),
  output_tokens: maybe(int8),
  images: maybe(int8),
};

const listFrom = (name: string, isFrom: ">=" | ">") =>
  statement(name, {
    params: { projectId: text, from: text, untilId: text },
    row: EXPORT,
    sql: `SELECT execution.id, line_id, execution.project_id, environment, product_id, execution.principal_id, capability_key, provider,
       model, mode, status, execution.billing_mode, external_ref, tags, pricing_version, execution.created_at, completed_at,
       actual_micros, (${PROVIDER_COST})::bigint AS cost_micros, receipt_id, hold.state AS hold_state,
       (${CHARGED})::bigint AS charged_micros, hold.funding, hold.resolved_by, hold.resolved_at, (${FEE})::bigint AS fee_micros, execution.is_test, ${IS_ESTIMATED} AS is_estimated, used.*
     FROM execution
     LEFT JOIN LATERAL (SELECT * FROM hold mine WHERE mine.execution_id = execution.id OFFSET 0) hold ON true
     ${USED}
     WHERE execution.project_id = $projectId AND execution.id ${isFrom} $from AND execution.id < $untilId AND ${HAS_ENDED}
     ORDER BY execution.id LIMIT ${PAGE}`,
    prepared: true,
  });
const listFirst = listFrom("execution.list.export", ">=");
const listNext = listFrom("execution.list.export_next", ">");

/** Reads the next executions of a project through the index of its ids. */
function page(projectId: string, from: string, isFirst: boolean, untilId: string): Promise<ExportRow[]> {
  return (isFirst ? listFirst : listNext).all(pool, { projectId, from, untilId });
}
