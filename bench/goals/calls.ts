import { setTimeout as sleep } from "node:timers/promises";
import { request as ask } from "undici";
import type { Checkout } from "../rig/checkout";
import { type Installation, startInstallation } from "../rig/installation";
import type { Cpu } from "../rig/processes";
import { nullTest } from "../rig/results";
import { alternate, medianOf, ratioOf } from "../rig/rounds";
import type { Bench } from "./context";

/*
 * Compares the CPU time per call of this checkout with that of another one, summed over all processes of an installation. This
 * checkout runs twice, as the null test: the difference of the two is noise. The other checkout may be an older version, so only
 * its launcher and /v1 are used. Calls run one at a time, because how many concurrent calls share statements depends on their
 * timing.
 */

/** A round includes what is written after its last answer. */
const SETTLE_MS = 250;
const TOLERANCE = 0.03;
const TEXT = "/v1/capabilities/text.general.fast.v1";
const QUESTION = "How deep is the sea?";
const INPUT = { messages: [{ role: "user", content: QUESTION }] };
/** Pins the sandbox, so that no provider of the checkout's .env is called. */
const EXECUTION = { executionPreference: "automatic", executionConstraints: { providerPin: "sandbox" } };
const PIN = { provider: "sandbox", model: "sandbox-1", api: "responses" };

/** A job changes its status twice. */
const MOST_WAITS = 4;

type Kind = {
  name: string;
  /** How many of these are made for each invoke. */
  share: number;
  /** Resolves when the execution has succeeded. */
  call(installation: Installation): Promise<void>;
};

const KINDS: Kind[] = [
  {
    name: "invoke",
    share: 1,
    async call(one) {
      expectSuccess(await post(one, `${TEXT}/invoke`, { input: INPUT, execution: EXECUTION }));
    },
  },
  {
    name: "stream",
    share: 2 / 3,
    async call(one) {
      const body = { input: INPUT, execution: EXECUTION, executionMode: "Stream" };
      const frames = await post(one, `${TEXT}/invoke`, body, "text/event-stream");
      if (!frames.includes("event: execution.succeeded"))
        throw new Error(`A stream ended without success:\n${frames}`);
    },
  },
  {
    name: "durable job, from submit to its end",
    share: 1 / 3,
    async call(one) {
      let answer = await post(one, `${TEXT}/jobs`, { input: INPUT, execution: EXECUTION });
      for (let waits = 0; waits < MOST_WAITS; waits++) {
        const { jobId, status } = JSON.parse(answer);
        if (status !== "queued" && status !== "running") break;
        answer = await get(one, `/v1/jobs/${jobId}?waitSeconds=30`);
      }
      expectSuccess(answer);
    },
  },
  {
    name: "pinned execution",
    share: 2 / 3,
    async call(one) {
      expectSuccess(await post(one, "/v1/inference/pinned", { pin: PIN, input: QUESTION }));
    },
  },
];

type Rounds = Record<"ours" | "again" | "theirs", Cpu[]>;

export async function measureCalls(bench: Bench, other: Checkout): Promise<void> {
  const { world, plan, say } = bench;
  await bench.web.running.stop(); // its periodic work would disturb
  const sandbox = await world.startSandbox();
  const open = (folder: string, name: string) => {
    say(`calls: starting ${name}`);
    return startInstallation(world, { folder, name, sandboxUrl: sandbox.url });
  };
  const ours = await open(".", "ours");
  const again = await open(".", "ours-again");
  const theirs = await open(other.folder, "the-other");
  const all = [ours, again, theirs];

  for (const kind of KINDS) {
    say(`calls: warming up, ${kind.name}`);
    for (const one of all) await costOf(one, kind, plan.calls);
  }
  for (const one of all) await one.analyze();

  for (const kind of KINDS) {
    say(`calls: ${kind.name}`);
    const rounds = await alternate(plan.callRounds, {
      ours: () => costOf(ours, kind, plan.calls),
      again: () => costOf(again, kind, plan.calls),
      theirs: () => costOf(theirs, kind, plan.calls),
    });
    report(bench, kind, rounds, other.commit);
  }
  for (const one of [...all, sandbox.running]) await one.stop();
}

/** CPU per call of one round, in microseconds. */
async function costOf(one: Installation, { call, share }: Kind, invokes: number): Promise<Cpu> {
  const calls = Math.round(invokes * share);
  const before = one.cpu();
  for (let made = 0; made < calls; made++) await call(one);
  await sleep(SETTLE_MS);
  const after = one.cpu();
  return {
    postgres: (after.postgres - before.postgres) / calls,
    others: (after.others - before.others) / calls,
  };
}

function report(bench: Bench, { name }: Kind, rounds: Rounds, other: string): void {
  const { ours, again, theirs } = rounds;
  bench.nulls.push(nullTest(`CPU per call, ${name}`, ratioOf(ours, again, total), TOLERANCE));
  const both = ours.map((cpu, round) => meanOf(cpu, again[round] ?? cpu));
  const { median, low, high } = ratioOf(both, theirs, total);
  const ratio = `${median.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
  bench.floors.push({
    what: `CPU per call, ${name} ÷ that of ${other}`,
    value: `${ratio}: ${lineOf(both)} and ${lineOf(theirs)}`,
  });
}

const meanOf = (a: Cpu, b: Cpu): Cpu => ({
  postgres: (a.postgres + b.postgres) / 2,
  others: (a.others + b.others) / 2,
});
const total = ({ postgres, others }: Cpu) => postgres + others;

const lineOf = (rounds: Cpu[]) =>
  `${Math.round(medianOf(rounds, total))} µs (PostgreSQL ${Math.round(medianOf(rounds, ({ postgres }) => postgres))})`;

function expectSuccess(answer: string): void {
  if (JSON.parse(answer).status !== "succeeded") throw new Error(`A call did not succeed: ${answer}`);
}

async function post(
  { url, apiKey, projectId }: Installation,
  path: string,
  body: object,
  accept = "application/json",
) {
  const answer = await ask(`${url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json", accept },
    body: JSON.stringify({ context: { projectId }, ...body }),
  });
  return textOf(path, answer);
}

async function get({ url, apiKey }: Installation, path: string) {
  return textOf(path, await ask(`${url}${path}`, { headers: { authorization: `Bearer ${apiKey}` } }));
}

async function textOf(path: string, { statusCode, body }: Awaited<ReturnType<typeof ask>>): Promise<string> {
  const text = await body.text();
  if (statusCode >= 300) throw new Error(`${path}: ${statusCode} ${text}`);
  return text;
}
