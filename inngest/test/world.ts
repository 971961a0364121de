import { Pool } from "pg";
import { expect, onTestFinished, vi } from "vitest";
import type { OutgoingEvent } from "../client";
import { type EngineOptions, enqueue, startEngine } from "../embedded";
import type { AnyFunction } from "../embedded/sdk";
import { createTestDatabase } from "./database";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

export type World = Awaited<ReturnType<typeof createWorld>>;

/** A database with an engine to start in it, and what tests ask of both; `app` is the id of the functions' client. */
export async function createWorld(app = "test") {
  const database = await createTestDatabase();
  const pool = new Pool({ connectionString: database.url, max: 12 });
  // A dropped database ends its connections; nobody is interested in that here.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));

  return {
    url: database.url,
    pool,
    /** Starts an engine that stops when the test ends. Retries come at once unless told otherwise. */
    async start(functions: AnyFunction[], options: Partial<EngineOptions> = {}) {
      const engine = await startEngine({ functions, pool, log: quiet, backoffMs: () => 0, ...options });
      onTestFinished(() => engine.stop());
      return engine;
    },
    send: (...events: OutgoingEvent[]) => enqueue(pool, events),
    /** Resolves when this many runs of a function have ended, with their rows in order of start. */
    async ended(functionId: string, count = 1): Promise<{ id: string; status: string; result: unknown }[]> {
      return vi.waitFor(
        async () => {
          const { rows } = await pool.query(
            "select id, status, result from engine_run where function_id = $1 order by created_at, id",
            [`${app}-${functionId}`],
          );
          const done = rows.filter((row) => ["completed", "failed", "cancelled"].includes(row.status));
          if (done.length < count)
            throw new Error(`${done.length} of ${count} ended: ${JSON.stringify(rows)}`);
          return done;
        },
        { timeout: 15_000, interval: 5 },
      );
    },
    /** Resolves when runs of a function are in this state. */
    async inState(functionId: string, status: string, count = 1): Promise<string[]> {
      return vi.waitFor(
        async () => {
          const { rows } = await pool.query(
            "select id from engine_run where function_id = $1 and status = $2",
            [`${app}-${functionId}`, status],
          );
          if (rows.length !== count) throw new Error(`${rows.length} runs are ${status}, not ${count}`);
          return rows.map((row) => row.id);
        },
        { timeout: 15_000, interval: 5 },
      );
    },
    /** Makes every timer of the database due now, so that no test sleeps. */
    async skipTime() {
      await pool.query(
        "update engine_step set wake_at = now() where status = 'pending' and wake_at is not null",
      );
      await pool.query("update engine_run set retry_at = now() where retry_at is not null");
      await pool.query("select engine_wake(id, now()) from engine_run where status = 'waiting'");
    },
    /** Forgets what ran before. */
    async clear() {
      await pool.query("truncate engine_run, engine_step, engine_limit, engine_seen, engine_worker");
      await pool.query("delete from graphile_worker._private_jobs");
    },
    async close() {
      await pool.end();
      await database.close();
    },
  };
}

/** Expects what comes about in a moment, however busy the machine is. */
export const soon = <T>(read: () => T) => expect.poll(read, { timeout: 15_000, interval: 5 });

/** A promise to be resolved from elsewhere. */
export function gate() {
  let open: () => void = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, passed };
}
