import { randomUUID } from "node:crypto";
import { Pool } from "pg";
import { startEngine } from "../embedded";
import { testClient } from "./client";

// A worker to be killed: started by crash.isolated.test.ts as a process of its own. Every step leaves a row, the effect, whose
// token is the step's result.
const pool = new Pool({ connectionString: process.env.KILL_DATABASE_URL, max: 12 });
pool.on("error", () => {});
pool.on("connect", (client) => client.on("error", () => {}));
const inngest = testClient();

async function effect(run: string, step: string): Promise<string> {
  const token = randomUUID();
  await pool.query("insert into effect (run, step, token) values ($1, $2, $3)", [run, step, token]);
  return token;
}

const child = inngest.createFunction({ id: "crash-child", triggers: [] }, async ({ step, runId }) =>
  step.run("child", () => effect(runId, "child")),
);

const crash = inngest.createFunction(
  {
    id: "crash",
    triggers: [{ event: "crash/one" }],
    retries: 2,
    concurrency: { key: "event.data.line", limit: 6 },
  },
  async ({ step, runId, attempt }) => {
    const tokens: Record<string, string> = {};
    const work = async (name: string) => {
      tokens[name] = await step.run(name, () => effect(runId, name));
    };
    await work("first");
    await step.sleepUntil("nap", new Date(Date.now() + 30));
    await Promise.all([work("left"), work("right")]);
    await step.invoke("call", { function: child });
    tokens.flaky = await step.run("flaky", async () => {
      if (attempt === 0) throw new Error("not yet");
      return effect(runId, "flaky");
    });
    await step.sendEvent("send", { name: "crash/two", data: { run: runId } });
    await work("last");
    return tokens;
  },
);

const second = inngest.createFunction(
  { id: "crash-second", triggers: [{ event: "crash/two" }] },
  async ({ step, runId }) => ({ only: await step.run("only", () => effect(runId, "only")) }),
);

const tell = (fields: object, message: string) => console.error(message, fields);
const log = { debug() {}, info() {}, warn: tell, error: tell };
await startEngine({ functions: [crash, child, second], pool, log, leaseMs: 800, backoffMs: () => 10 });
process.stdout.write("ready\n");
