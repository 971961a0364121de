import type { HoldView } from "@/server/contract/budgets";
import { pool } from "@/server/platform/db";
import type { Micros } from "@/server/platform/money";
import { column, text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import type { Funding } from "./reserve";

/** The reservation of an execution, as far as it says what the customer pays. */
export type HoldFacts = {
  state: "open" | "settled" | "released" | "ambiguous";
  amountMicros: Micros;
  /** Null: not settled. */
  settledMicros: Micros | null;
  funding: Funding;
  isTest: boolean;
  /** When an ambiguous one was resolved; null: it was not. */
  resolvedAt?: string | null;
  /** How an ambiguous one ended; absent: it did not. */
  resolution?: HoldView["resolution"];
  /** The cost of the provider's work, as a person found it out; null if no one did. */
  foundCostMicros?: Micros | null;
};

export const IS_CHARGED = "hold.billing_mode = 'managed' AND hold.state = 'settled'";

/** The service fee in what the customer has paid, as it was posted. */
export const FEE = `CASE WHEN ${IS_CHARGED} THEN coalesce((SELECT sum(entry.amount_micros) FROM ledger_entry entry
  WHERE entry.hold_id = hold.id AND entry.account = 'service_fee'), 0)::bigint ELSE 0 END`;

/** The list price of the provider's work, as a person found it out; null if no one did. */
export const FOUND_COST = `CASE WHEN hold.resolved_by IS NOT NULL AND hold.resolution IS DISTINCT FROM 'written_off'
  THEN coalesce(hold.settled_micros, 0) - ${FEE} END`;

const FACTS = `json_build_object('state', hold.state, 'amountMicros', hold.amount_micros, 'settledMicros', hold.settled_micros,
  'funding', hold.funding, 'isTest', hold.is_test, 'resolvedAt', CASE WHEN hold.resolved_by IS NOT NULL THEN hold.resolved_at END,
  'resolution', hold.resolution, 'foundCostMicros', ${FOUND_COST}) AS hold`;

/** The same as JSON in SQL: a subquery for the execution whose id this SQL gives; null where nothing is reserved. */
export const holdFactsOf = (executionId: string) =>
  `(SELECT ${FACTS} FROM hold WHERE hold.execution_id = ${executionId})`;

const listFacts = statement("hold.list.facts", {
  params: { executionIds: texts },
  row: { id: text, hold: column<HoldFacts>("json") },
  sql: `SELECT execution_id AS id, ${FACTS} FROM hold WHERE execution_id = ANY($executionIds)`,
  prepared: true,
});

/** The reservations of these executions by their ids; one that reserves nothing has none. */
export async function readHolds(executionIds: string[]): Promise<Map<string, HoldFacts>> {
  if (executionIds.length === 0) return new Map();
  const rows = await listFacts.all(pool, { executionIds });
  return new Map(rows.map(({ id, hold }) => [id, hold]));
}

/** The reservation of one execution; null: it reserves nothing. */
export async function readHold(executionId: string): Promise<HoldFacts | null> {
  return (await readHolds([executionId])).get(executionId) ?? null;
}
