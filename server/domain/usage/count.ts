import { SANDBOX } from "@/server/domain/catalog";

/** The columns of `usage_day` that say whose usage it is. */
export const GROUPS = [
  "organization_id",
  "project_id",
  "day",
  "capability_key",
  "provider",
  "model",
  "principal_id",
  "billing_mode",
  "is_test",
] as const;

/** Those that count. */
export const COUNTS = [
  "executions",
  "succeeded",
  "failed",
  "canceled",
  "cost_micros",
  "unknown_costs",
  "charged_micros",
  "fee_micros",
  "input_tokens",
  "output_tokens",
  "images",
] as const;

const ENDED = "job.status IN ('succeeded', 'failed', 'canceled')";

/**
 * What was charged beyond the provider's cost. On an unknown cost the whole hold was charged, with the fee in it; what a
 * person decided later is in the ledger.
 */
export const FEE = `CASE
  WHEN hold.state IS DISTINCT FROM 'settled' THEN 0
  WHEN hold.resolved_by IS NOT NULL THEN coalesce((SELECT sum(entry.amount_micros) FROM ledger_entry entry
    WHERE entry.hold_id = hold.id AND entry.account = 'service_fee'), 0)
  WHEN job.actual_micros IS NULL THEN (job.pricing->>'maximumMicros')::bigint - (job.pricing->>'maximumUpstreamMicros')::bigint
  ELSE hold.settled_micros - job.actual_micros END`;

/** Counts the executions of a common table (project_id, day, from_id, until_id), from their own rows, by GROUPS. */
export const countFrom = (table: string) => `
SELECT job.organization_id, job.project_id, ${table}.day, job.capability_key, job.provider, job.model, job.principal_id,
  job.billing_mode, job.provider = '${SANDBOX}' AS is_test,
  count(*) AS executions,
  count(*) FILTER (WHERE job.status = 'succeeded') AS succeeded,
  count(*) FILTER (WHERE job.status = 'failed') AS failed,
  count(*) FILTER (WHERE job.status = 'canceled') AS canceled,
  coalesce(sum(job.actual_micros) FILTER (WHERE ${ENDED}), 0)::bigint AS cost_micros,
  count(*) FILTER (WHERE ${ENDED} AND job.actual_micros IS NULL) AS unknown_costs,
  coalesce(sum(hold.settled_micros) FILTER (WHERE hold.state = 'settled'), 0)::bigint AS charged_micros,
  coalesce(sum(${FEE}), 0)::bigint AS fee_micros,
  coalesce(sum(used.input_tokens), 0)::bigint AS input_tokens,
  coalesce(sum(used.output_tokens), 0)::bigint AS output_tokens,
  coalesce(sum(used.images), 0)::bigint AS images
FROM ${table}
-- A day at a time by the index of its ids (OFFSET 0 holds the planner to that), never the table of every tenant.
JOIN LATERAL (
  SELECT * FROM job mine WHERE mine.project_id = ${table}.project_id AND mine.id >= ${table}.from_id AND mine.id < ${table}.until_id
  OFFSET 0) job ON true
LEFT JOIN hold ON hold.execution_id = job.id
LEFT JOIN LATERAL (
  SELECT sum((attempt.usage->>'inputTokens')::bigint) AS input_tokens,
    sum((attempt.usage->>'outputTokens')::bigint) AS output_tokens, sum((attempt.usage->>'images')::bigint) AS images
  FROM attempt WHERE attempt.job_id = job.id) used ON true
GROUP BY job.organization_id, job.project_id, ${table}.day, job.capability_key, job.provider, job.model, job.principal_id,
  job.billing_mode`;

/** Was a charge of this day decided by a person after it was counted? A minute's grace, since clocks differ. */
export const CORRECTED_SINCE = `EXISTS (SELECT FROM hold WHERE hold.organization_id = counted.organization_id
  AND hold.resolved_by IS NOT NULL AND hold.resolved_at >= counted.computed_at - interval '1 minute'
  AND hold.project_id = counted.project_id AND hold.execution_id >= asked.from_id AND hold.execution_id < asked.until_id)`;
