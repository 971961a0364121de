import type { HoldView } from "@/server/contract/budgets";
import { pool } from "@/server/platform/db";
import type { Micros } from "@/server/platform/money";
import { column, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import type { Funding } from "./reserve";

/** The part of an execution's hold that determines the customer's charge. */
export type HoldFacts = {
  state: "open" | "settled" | "released" | "ambiguous";
  amountMicros: Micros;
  /** Null if not settled. */
  settledMicros: Micros | null;
  funding: Funding;
  isTest: boolean;
  /** Time at which an ambiguous hold was resolved; null if it was not. */
  resolvedAt?: string | null;
  /** How an ambiguous hold was resolved; absent if it was not. */
  resolution?: HoldView["resolution"];
  /** Cost of the provider's work, as reported when the hold was resolved; null if not known. */
  foundCostMicros?: Micros | null;
};

export const IS_CHARGED = "hold.billing_mode = 'managed' AND hold.state = 'settled'";

/** Service fee within the customer's charge, as posted to the ledger; 0 unless a managed hold was settled. */
export const FEE = `CASE WHEN ${IS_CHARGED} THEN coalesce((SELECT sum(entry.amount_micros) FROM ledger_entry entry
  WHERE entry.hold_id = hold.id AND entry.account = 'service_fee'), 0)::bigint ELSE 0 END`;

/**
 * List price of the provider's work, from the resolution of the hold. Null if the hold was not resolved or
 * was written off.
 */
export const FOUND_COST = `CASE WHEN hold.resolved_by IS NOT NULL AND hold.resolution IS DISTINCT FROM 'written_off'
  THEN coalesce(hold.settled_micros, 0) - ${FEE} END`;

const FACTS = `json_build_object('state', hold.state, 'amountMicros', hold.amount_micros, 'settledMicros', hold.settled_micros,
  'funding', hold.funding, 'isTest', hold.is_test, 'resolvedAt', CASE WHEN hold.resolved_by IS NOT NULL THEN hold.resolved_at END,
  'resolution', hold.resolution, 'foundCostMicros', ${FOUND_COST}) AS hold`;

/** The facts as a JSON subquery for the execution whose id this SQL gives; null if it has no hold. */
export const holdFactsOf = (executionId: string) =>
  `(SELECT ${FACTS} FROM hold WHERE hold.execution_id = ${executionId})`;

const listFacts = statement("hold.list.facts", {
  params: { executionIds: texts },
  row: { id: text, hold: column<HoldFacts>("json") },
  sql: `SELECT execution_id AS id, ${FACTS} FROM hold WHERE execution_id = ANY($executionIds)`,
  prepared: true,
});

/** Returns the holds by execution id. An execution without a hold has no entry. */
export async function readHolds(executionIds: string[]): Promise<Map<string, HoldFacts>> {
  if (executionIds.length === 0) return new Map();
  const rows = await listFacts.all(pool, { executionIds });
  return new Map(rows.map(({ id, hold }) => [id, hold]));
}

/** Returns the hold of one execution; null if it has none. */
export async function readHold(executionId: string): Promise<HoldFacts | null> {
  return (await readHolds([executionId])).get(executionId) ?? null;
}
