import type {
  Comparison,
  ComparisonEntry,
  ComparisonLine,
  ShownCompetitor,
} from "@/server/contract/comparisons";
import type { Job, JobStatus } from "@/server/contract/jobs";
import { TERMINAL } from "@/server/contract/jobs";
import { access } from "@/server/domain/access";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { callersKey } from "@/server/domain/envelope";
import { PROVIDER_COST } from "@/server/domain/executions";
import { comparison as comparisonTable } from "@/server/generated/schema";
import { fail } from "@/server/platform/errors/errors";
import { type Micros, microsToUsd } from "@/server/platform/money";
import { isObject } from "@/server/platform/text/json";
import { json, type Of, pick, present, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, readInScope, SCOPE } from "@/server/sql/tenant";

/**
 * An entry with the facts of its job that identify the competitor; `toComparison` decides which are shown.
 */
type EntryRow = {
  entry_id: string;
  job_id: string;
  competitor: ShownCompetitor;
  status: JobStatus;
  provider: string;
  model: string;
  /** Null if the cost is unknown or not known yet. */
  cost_micros: Micros | null;
};

const ENTRIES = {
  ...comparisonTable,
  entries: present(json<EntryRow[]>(), "a comparison is written with its entries"),
};
export type ComparisonRow = Of<typeof ENTRIES>;

const VISIBLE = pick(SCOPE, "organizationIds projectId environment");
const readComparison = statement("comparison.read.entries", {
  params: {
    comparisonId: text,
    ...VISIBLE,
  },
  row: ENTRIES,
  sql: `SELECT comparison.*, (
         SELECT json_agg(json_build_object('entry_id', entry.id, 'job_id', job.id, 'competitor', competitor,
           'status', job.status, 'provider', job.provider, 'model', job.model,
           'cost_micros', (SELECT (${PROVIDER_COST})::bigint FROM execution LEFT JOIN hold ON hold.execution_id = execution.id
             WHERE execution.id = job.id)) ORDER BY position)
         FROM comparison_entry entry JOIN job ON job.id = entry.job_id AND job.project_id = entry.project_id
         WHERE entry.comparison_id = comparison.id AND entry.project_id = comparison.project_id) AS entries
       FROM comparison WHERE id = $comparisonId
       AND ${inScope(VISIBLE)}`,
  prepared: true,
});

/** Returns the comparison with its entries in order. Throws NotFound if the caller may not see it. */
export async function findComparison(ctx: Ctx, comparisonId: string, right: Scope): Promise<ComparisonRow> {
  const scope = access.authorize(ctx, right, "rows");
  const [row] = await readInScope(readComparison, scope, { comparisonId });
  return row ?? fail("NotFound", "There is no such comparison.");
}

/**
 * Derives the status from the jobs. A job that waits for a person has not ended, so the comparison is
 * running.
 */
export function statusOf(statuses: readonly JobStatus[]): Comparison["status"] {
  if (!statuses.every((status) => TERMINAL.includes(status))) return "running";
  const succeeded = statuses.filter((status) => status === "succeeded").length;
  if (succeeded === 0) return "failed";
  return succeeded === statuses.length ? "completed" : "partial";
}

/**
 * Returns a comparison as the API shows it. `jobs` are the visible jobs of its entries, in the same order.
 */
export function toComparison(row: ComparisonRow, jobs: Job[], now: Date): Comparison {
  const status = statusOf(row.entries.map((entry) => entry.status));
  const costMicros = status === "running" ? null : sumOf(row.entries.map(({ cost_micros }) => cost_micros));
  const isYoung = now.getTime() - row.created_at.getTime() < 10_000;
  return {
    comparisonId: row.id,
    capabilityKey: row.capability_key,
    projectId: row.project_id,
    environment: row.environment,
    status,
    intent: row.intent,
    workloadTags: row.workload_tags,
    // All jobs of a comparison have the same tags.
    tags: jobs[0]?.tags ?? [],
    idempotencyKey: row.idempotency_key && callersKey(row.environment, row.idempotency_key),
    createdAt: row.created_at.toISOString(),
    estimatedCost: microsToUsd(row.estimated_micros),
    maximumCost: microsToUsd(row.maximum_micros),
    cost: costMicros === null ? null : microsToUsd(costMicros),
    chargeEstimatedMicros: row.estimated_micros,
    chargeMaximumMicros: row.maximum_micros,
    chargedMicros: sumOf(jobs.map(({ charge }) => charge?.chargedMicros ?? null)), // null while a job is blind
    providerCostMicros: costMicros,
    currency: "USD",
    entries: row.entries.map((entry, position) => toEntry(row, entry, jobs[position]!)), // each entry has one job
    judgement: judgementOf(row),
    nextAction: status === "running" ? "poll" : row.decision ? "stop" : "judge",
    pollAfterSeconds: status === "running" ? (isYoung ? 1 : 4) : null,
  };
}

/** Returns the sum; null if any amount is unknown. */
const sumOf = (amounts: readonly (Micros | null)[]): Micros | null =>
  amounts.reduce<Micros | null>((sum, each) => (sum === null || each === null ? null : sum + each), 0);

/**
 * Returns an entry, limited to the visible job until the judgement. The statement that writes `decision`
 * also clears `is_blind`, so both change together.
 */
function toEntry({ decision }: ComparisonRow, entry: EntryRow, job: Job): ComparisonEntry {
  const { artifacts, typedOutput, error, charge } = job;
  const shown = { entryId: entry.entry_id, jobId: job.jobId, status: job.status };
  const visible = { ...shown, artifacts, typedOutput, error, charge };
  if (decision === null) return visible;
  const { provider, model, cost_micros } = entry;
  const competitor = withOverrides(entry.competitor, job);
  const chosen = provider ? `${provider}/${model}` : null;
  return {
    ...visible,
    competitor,
    providerPin: competitor.providerPin ?? chosen,
    provider: provider || null,
    model: model || null,
    cost: cost_micros === null ? null : microsToUsd(cost_micros),
    costMicros: cost_micros,
    providerCostMicros: cost_micros,
    startedAt: job.startedAt,
    completedAt: job.completedAt,
    receiptId: job.receiptId,
  };
}

/** Adds the values of a recipe from the request of its job, as far as that is still stored. */
function withOverrides(kept: ShownCompetitor, { requestSnapshot }: Job): ShownCompetitor {
  if (!kept.inputOverrides) return kept;
  const input = requestSnapshot?.input;
  if (!isObject(input)) return { ...kept, inputOverrides: null };
  const names = Object.keys(kept.inputOverrides);
  return {
    ...kept,
    inputOverrides: Object.fromEntries(
      names.map((name) => [name, Object.hasOwn(input, name) ? (input[name] ?? null) : null]),
    ),
  };
}

function judgementOf(row: ComparisonRow): Comparison["judgement"] {
  const { decision, judged_at, judged_by } = row;
  if (!decision || !judged_at || !judged_by) return null;
  return {
    decision,
    overallWinnerEntryId: row.overall_winner_entry_id,
    valueWinnerEntryId: row.value_winner_entry_id,
    judgedBy: judged_by,
    judgedAt: judged_at.toISOString(),
  };
}

type LineRow = Pick<ComparisonRow, "id" | "capability_key" | "intent" | "created_at" | "decision"> & {
  statuses: JobStatus[];
};

export const toComparisonLine = ({ statuses, ...row }: LineRow): ComparisonLine => ({
  comparisonId: row.id,
  capabilityKey: row.capability_key,
  status: statusOf(statuses),
  intent: row.intent,
  createdAt: row.created_at.toISOString(),
  entryCount: statuses.length,
  decision: row.decision,
});
