import { Pool } from "pg";
import { mailDue } from "../client";
import { startEngine } from "../embedded/engine";
import { type Flow, flow } from "../flow";

// A worker that crash.isolated.test.ts starts as a process and kills. The row of each step counts the step's runs. The queue
// starts a run again until it has ended.
const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 12 });
pool.on("error", () => {});
pool.on("connect", (client) => client.on("error", () => {}));

/** Counts this run of the step, and returns how often it has run. */
async function effect(run: string, step: string): Promise<number> {
  const { rows } = await pool.query(
    `insert into effect (run, step, times) values ($1, $2, 1)
     on conflict (run, step) do update set times = effect.times + 1 returning times`,
    [run, step],
  );
  return rows[0].times;
}

/** Holds an advisory lock while it works and records how many are held, so that killed workers do not count. */
const fragile: Flow = flow({
  id: "fragile",
  event: mailDue,
  retries: 2,
  heldAs: "mails",
  async run(_, { mailId }, step) {
    const client = await pool.connect(); // its advisory lock ends with its process
    try {
      await client.query("select pg_advisory_lock_shared(4711, hashtext($1))", [mailId]);
      await client.query(
        "insert into seen_at_work select count(distinct objid) from pg_locks where classid = 4711 and granted",
      );
      await step.run("first", () => effect(mailId, "first"));
      const tries = await step.run("flaky", () => effect(mailId, "flaky"));
      if (tries === 1 && mailId.endsWith("3")) throw new Error("not yet");
    } finally {
      await client.query("select pg_advisory_unlock_all()");
      client.release();
    }
    const naps = await step.run("nap", () => effect(mailId, "nap"));
    if (naps === 1 && Number(mailId) % 4 === 0) await step.sleep("nap", 300);
    await step.run("end", () => effect(mailId, "end"));
  },
});

const report = (fields: object, message: string) => process.env.KILL_LOG && console.error(message, fields);
const log = { debug() {}, info() {}, warn: report, error: report };
await startEngine({ flows: [fragile], pool, log, concurrency: 10, leaseMs: 2_000, backoffMs: () => 10 });
process.stdout.write("ready\n");
