import type pg from "pg";
import { vi } from "vitest";
import { pool } from "@/server/platform/db";

/** One node of a plan as `EXPLAIN (FORMAT JSON)` writes it. */
export type Plan = {
  "Node Type": string;
  "Relation Name"?: string;
  "Index Name"?: string;
  "Index Cond"?: string;
  "Recheck Cond"?: string;
  "Shared Hit Blocks"?: number;
  "Shared Read Blocks"?: number;
  Plans?: Plan[];
};

type Asked = { text: string; values: unknown[] };
export type Read = Asked & { blocks: number; plan: Plan };

/**
 * Runs `work`, then each reading statement that it sent through the pool once more under EXPLAIN ANALYZE. Returns the statements
 * with the blocks that each touched. Statements that write are left out: they would write twice.
 */
export async function readsOf<T>(work: () => Promise<T>): Promise<{ result: T; reads: Read[] }> {
  const asked: Asked[] = [];
  const query = pool.query.bind(pool) as (...given: unknown[]) => Promise<pg.QueryResult>;
  const spy = vi.spyOn(pool, "query").mockImplementation(((...given: unknown[]) => {
    const [first, values] = given;
    const text = typeof first === "string" ? first : (first as Asked).text;
    if (/^\s*(SELECT|WITH)\b/i.test(text) && !/\b(INSERT INTO|UPDATE|DELETE FROM)\b/.test(text))
      asked.push({ text, values: ((first as Asked).values ?? values ?? []) as unknown[] });
    return query(...given);
  }) as never);
  let result: T;
  try {
    result = await work();
  } finally {
    spy.mockRestore();
  }
  const reads: Read[] = [];
  for (const each of asked) reads.push({ ...each, ...(await explained(each)) });
  return { result, reads };
}

/**
 * The blocks of one statement, which runs in a transaction that is rolled back, and its plan without sequential scans wherever an
 * index can serve: in small tables the planner prefers them, whatever indexes there are.
 */
export async function explained({ text, values }: Asked): Promise<{ blocks: number; plan: Plan }> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: Plan }] }>({
      text: `EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ${text}`,
      values,
    });
    const ran = rows[0]!["QUERY PLAN"][0].Plan;
    await client.query("SET LOCAL enable_seqscan = off");
    const planned = await client.query<{ "QUERY PLAN": [{ Plan: Plan }] }>({
      text: `EXPLAIN (FORMAT JSON) ${text}`,
      values,
    });
    const plan = planned.rows[0]!["QUERY PLAN"][0].Plan;
    return { blocks: (ran["Shared Hit Blocks"] ?? 0) + (ran["Shared Read Blocks"] ?? 0), plan };
  } finally {
    await client.query("ROLLBACK");
    client.release();
  }
}

/** Tables that grow with executions. */
const BIG = new Set([
  "job",
  "attempt",
  "event",
  "payload",
  "receipt",
  "artifact",
  "job_artifact",
  "ledger_transaction",
  "pinned_execution",
  "pinned_attempt",
  "pinned_record",
  "pinned_hold",
  "delivery",
  "delivery_attempt",
  "audit_entry",
  "notification",
]);

/** Finds all that a plan reads from end to end: a big table, or an index of one that is not partial (`partial` has the names of those). */
export function wholeReadsOf(plan: Plan, partial: ReadonlySet<string>): string[] {
  const below = (plan.Plans ?? []).flatMap((each) => wholeReadsOf(each, partial));
  const { "Relation Name": table = "", "Index Name": index = "" } = plan;
  if (!BIG.has(table)) return below;
  if (plan["Node Type"] === "Seq Scan") return [`all of ${table}`, ...below];
  const isWholeIndex = /^Index/.test(plan["Node Type"]) && !plan["Index Cond"] && !partial.has(index);
  return isWholeIndex ? [`all of ${index}`, ...below] : below;
}
