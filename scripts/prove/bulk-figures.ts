import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type FigureCheck,
  type Installation,
  LEDGER_IN_BALANCE,
  openInstallation,
  report,
} from "./installation";

const POLL_MS = 50;
const SAMPLE_MS = 100;
const MB = 1024 * 1024;
/** Most memory that a bulk may add, whatever its size. */
const MOST_ADDED_MB = 50;
/** Time of an answer while concurrency is measured: an immediate answer would be over before others begin. */
const THINK_MS = 200;

type Bulk = { seconds: number; acceptMs: number; status: string; counts: Record<string, number> };

/**
 * Runs bulks through an undisturbed installation: a hundredth, a tenth and the whole of these items, then the whole with a small
 * one beside it, then one whose answers take a while. Prints time, rate, the number in progress at once by the sandbox's own log,
 * and memory.
 */
export async function proveFigures(items: number, concurrency: number): Promise<boolean> {
  const installation = await openInstallation(0);
  const { parts } = installation;
  const run = runnerOf(installation, (await installation.tenant("Bulks")).apiKey);
  const memory = watchMemory(() => parts.map(({ child }) => child.pid ?? 0));
  await run(Math.max(10, Math.round(items / 20)), concurrency); // warm
  await sleep(1_000);
  const alone = await run(10, 8);
  const hundredth = await runSize(run, Math.round(items / 100), concurrency);
  const tenth = await runSize(run, Math.round(items / 10), concurrency);

  const before = memory.now();
  memory.reset();
  const whole = await inHandOf(installation, () => run(items, concurrency));
  const most = memory.most();
  await sleep(12_000); // the collector returns memory after eight idle seconds
  const after = memory.now();
  say(`${items} items, concurrency ${concurrency}`, whole.bulk, items);
  for (const [place, { name }] of parts.entries())
    console.log(
      `  memory of ${name}: ${before[place]} MB before, ${most[place]} at most, ${after[place]} after`,
    );
  console.log(`  under way at once, by the sandbox's log: ${Math.max(...whole.inHand)} at most`);

  memory.reset();
  const running = run(items, concurrency);
  await sleep(1_000);
  const beside = await run(10, 8);
  say(`${items} items, another bulk of 10 beside it`, await running, items);
  const later = memory.most();
  memory.stop();
  for (const [place, { name }] of parts.entries())
    console.log(`  memory of ${name}, after as many again: ${later[place]} MB at most`);
  say("  the bulk of 10, alone", alone, 10);
  say("  the bulk of 10, beside", beside, 10);

  const thoughtful = Math.max(concurrency * 10, Math.round(items / 10));
  const slow = await inHandOf(installation, () => run(thoughtful, concurrency, `[slow ${THINK_MS}] `));
  say(`${thoughtful} items whose answer takes ${THINK_MS} ms`, slow.bulk, thoughtful);
  const inHand = slow.inHand.toSorted((a, b) => a - b);
  const median = inHand[Math.floor(inHand.length / 2)] ?? 0;
  console.log(
    `  under way at once, by the sandbox's log: ${Math.max(...inHand)} at most, ${median} at the median`,
  );

  const broken = report([
    ["bulks that did not succeed", [alone, hundredth, tenth, whole.bulk, beside, slow.bulk].filter(({ status }) => status !== "succeeded").length, 0], // biome-ignore format: one figure
    ...(await figuresOfRecords(installation)),
    ...figuresOfPace([...whole.inHand, ...inHand], concurrency, [hundredth, tenth, whole.bulk]),
    figureOfMemory(before, most),
  ]);
  await installation.close(broken > 0);
  return broken === 0;
}

type Runner = (count: number, concurrency: number, script?: string) => Promise<Bulk>;

/** Sends bulks of `count` items, each with texts of its own, and waits for their ends. */
function runnerOf({ base }: Installation, apiKey: string): Runner {
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  let number = 0;
  return async (count, concurrency, script = "") => {
    number++;
    const body = JSON.stringify({
      pin: { provider: "sandbox", model: script ? "sandbox-mixed" : "sandbox-1", api: "responses" },
      sampling: { maxOutputTokens: 64 },
      concurrency,
      items: Array.from({ length: count }, (_, item) => ({
        id: `item-${item}`,
        input: `${script}Item ${item} of bulk ${number}: what is a capstan, and what is it for?`,
      })),
    });
    const begun = performance.now();
    const answer = await fetch(`${base}/v1/inference/pinned/bulk`, { method: "POST", headers, body });
    const { bulkId, ...refused } = (await answer.json()) as { bulkId?: string };
    if (!bulkId) throw new Error(`the bulk was refused: ${JSON.stringify(refused)}`);
    const acceptMs = performance.now() - begun;
    for (;;) {
      const path = `${base}/v1/inference/pinned/bulk/${bulkId}?limit=1`;
      const bulk = (await (await fetch(path, { headers })).json()) as Polled;
      if (bulk.nextAction === "stop") {
        // Computed from the rows, because polling adds its own pauses.
        const seconds = (Date.parse(bulk.completedAt) - Date.parse(bulk.createdAt)) / 1000;
        return { seconds, acceptMs, status: bulk.status, counts: bulk.counts };
      }
      await sleep(count > 1_000 ? 10 * POLL_MS : POLL_MS);
    }
  };
}

async function runSize(run: Runner, count: number, concurrency: number): Promise<Bulk> {
  const bulk = await run(count, concurrency);
  say(`${count} items, concurrency ${concurrency}`, bulk, count);
  return bulk;
}

/** Runs a bulk, and returns how many of its items were in progress whenever one arrived, by the sandbox's own log. */
async function inHandOf(installation: Installation, run: () => Promise<Bulk>) {
  const logged = (await installation.sandboxLog()).length;
  await sleep(1_000);
  const bulk = await run();
  const inHand = (await installation.sandboxLog()).slice(logged).map((line) => line.inHand);
  return { bulk, inHand };
}

const say = (what: string, { seconds, acceptMs, status }: Bulk, count: number) =>
  console.log(
    `${what.padEnd(44)} ${seconds.toFixed(2).padStart(7)} s  ${Math.round(count / seconds)
      .toString()
      .padStart(5)} items/s  accepted in ${Math.round(acceptMs)} ms  ${status}`,
  );

async function figuresOfRecords(installation: Installation): Promise<FigureCheck[]> {
  const database = await installation.connect();
  const count = async (sql: string) => Number((await database.query(sql)).rows[0]?.n ?? 0);
  const submissions = await installation.submissions();
  const executions = await count("SELECT count(*) AS n FROM pinned_execution");
  const notOnce = [...submissions.values()].filter((times) => times !== 1).length;
  const figures: FigureCheck[] = [
    ["executions without their record", executions - (await count("SELECT count(*) AS n FROM pinned_record")), 0], // biome-ignore format: one figure
    ["executions the sandbox did not see once", notOnce + Math.abs(submissions.size - executions), 0],
    [LEDGER_IN_BALANCE[0], await count(LEDGER_IN_BALANCE[1]), 0],
  ];
  await database.end();
  return figures;
}

/** Checks that concurrency is as requested, and that ten times the items take about ten times the time. */
function figuresOfPace(inHand: number[], concurrency: number, decades: Bulk[]): FigureCheck[] {
  const most = Math.max(...inHand);
  const growth = decades.slice(1).map(({ seconds }, place) => seconds / (decades[place]?.seconds ?? 0));
  return [
    ["more under way at once than asked", Math.max(0, most - concurrency - 8), 0],
    ["under way at once far from what was asked", oneUnless(most > concurrency * 0.9), 0],
    [`ten times the items in more than 11 times the time (${growth.map((x) => x.toFixed(1)).join(", ")})`, oneUnless(growth.every((x) => x <= 11)), 0], // biome-ignore format: one figure
  ];
}

function figureOfMemory(before: number[], most: number[]): FigureCheck {
  const added = most.map((mb, place) => mb - (before[place] ?? 0));
  const what = `memory grew by more than ${MOST_ADDED_MB} MB (web ${added[0]}, worker ${added[1]})`;
  return [what, oneUnless(added.every((mb) => mb <= MOST_ADDED_MB)), 0];
}

const oneUnless = (holds: boolean) => (holds ? 0 : 1);

type Polled = {
  status: string;
  nextAction: string;
  createdAt: string;
  completedAt: string;
  counts: Record<string, number>;
};

/** Samples the resident memory of some processes ten times a second. */
function watchMemory(pids: () => number[]) {
  const look = () => pids().map(residentMb);
  let highest = look();
  const timer = setInterval(() => {
    highest = look().map((mb, place) => Math.max(mb, highest[place] ?? 0));
  }, SAMPLE_MS);
  return {
    now: look,
    most: () => highest,
    reset() {
      highest = look();
    },
    stop: () => clearInterval(timer),
  };
}

function residentMb(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Math.round((Number(line?.[1] ?? 0) * 1024) / MB);
}
