import { FEE } from "@/server/domain/budgets";
import { CHARGED, PROVIDER_COST } from "@/server/domain/executions";
import { PREFIXES } from "@/server/platform/ids";

/** Columns of `usage_day` that identify a group of executions. */
export const GROUP_COLUMNS = [
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

/** Columns of `usage_day` that hold figures. */
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

/**
 * SQL condition: this execution of the view has ended. Ambiguous ones count as failed; the result of a
 * blind job is counted after the judgement.
 */
export const HAS_ENDED = "execution.status IN ('succeeded', 'failed', 'ambiguous', 'canceled', 'unjudged')";

/** Sums a figure of the usage. A value that is no count, which older rows may hold, is ignored. */
const SUM_OF = (figure: string) => `sum(CASE WHEN each.usage->>'${figure}' ~ '^[0-9]{1,10}$'
    THEN (each.usage->>'${figure}')::bigint END)::bigint`;

/** Joins the usage of an execution of the view; that of a job comes from its attempts. */
export const USED = `LEFT JOIN LATERAL (
  SELECT ${SUM_OF("inputTokens")} AS input_tokens, ${SUM_OF("outputTokens")} AS output_tokens, ${SUM_OF("images")} AS images
  FROM (SELECT attempt.usage FROM attempt WHERE attempt.job_id = execution.job_id UNION ALL SELECT execution.usage) each
) used ON true`;

/** Prefixes of execution ids, by kind. */
export const KIND_PREFIXES = [`${PREFIXES.job}_`, `${PREFIXES.pinned}_`];
const KINDS = KIND_PREFIXES.map((prefix) => `('${prefix}')`).join(", ");

/**
 * Counted beside COUNTS but not stored: a day with unjudged executions stays open, so it is counted from
 * its executions.
 */
export const UNJUDGED = "unjudged";

/**
 * Counts the executions of a common table expression (project_id, day, from_ulid, until_ulid) from their own
 * rows, grouped by GROUP_COLUMNS.
 */
export const countFrom = (table: string) => `
SELECT execution.organization_id, execution.project_id, ${table}.day, execution.capability_key, execution.provider,
  execution.model, execution.principal_id, execution.billing_mode, execution.is_test,
  count(*) AS executions,
  count(*) FILTER (WHERE execution.status = 'succeeded') AS succeeded,
  count(*) FILTER (WHERE execution.status IN ('failed', 'ambiguous')) AS failed,
  count(*) FILTER (WHERE execution.status = 'canceled') AS canceled,
  count(*) FILTER (WHERE execution.status = '${UNJUDGED}') AS ${UNJUDGED},
  coalesce(sum(${PROVIDER_COST}) FILTER (WHERE ${HAS_ENDED}), 0)::bigint AS cost_micros,
  count(*) FILTER (WHERE ${HAS_ENDED} AND ${PROVIDER_COST} IS NULL) AS unknown_costs,
  sum(${CHARGED})::bigint AS charged_micros,
  sum(${FEE})::bigint AS fee_micros,
  coalesce(sum(used.input_tokens), 0)::bigint AS input_tokens,
  coalesce(sum(used.output_tokens), 0)::bigint AS output_tokens,
  coalesce(sum(used.images), 0)::bigint AS images
FROM ${table} CROSS JOIN (VALUES ${KINDS}) AS kind(prefix)
-- A day at a time by the index of a project's ids, never the rows of other days or tenants: OFFSET 0 holds the planner to it.
JOIN LATERAL (
  SELECT * FROM execution mine WHERE mine.project_id = ${table}.project_id
    AND mine.id >= kind.prefix || ${table}.from_ulid AND mine.id < kind.prefix || ${table}.until_ulid
  OFFSET 0) execution ON true
LEFT JOIN LATERAL (SELECT * FROM hold mine WHERE mine.execution_id = execution.id OFFSET 0) hold ON true
${USED}
GROUP BY execution.organization_id, execution.project_id, ${table}.day, execution.capability_key, execution.provider,
  execution.model, execution.principal_id, execution.billing_mode, execution.is_test`;

/**
 * SQL condition: a person resolved a charge of this day after the day was counted, or up to a minute before,
 * because clocks differ.
 */
export const CORRECTED_SINCE = `EXISTS (SELECT FROM hold WHERE hold.organization_id = counted.organization_id
  AND hold.resolved_by IS NOT NULL AND hold.resolved_at >= counted.computed_at - interval '1 minute'
  AND hold.project_id = counted.project_id
  AND right(hold.execution_id, 26) >= asked.from_ulid AND right(hold.execution_id, 26) < asked.until_ulid)`;
