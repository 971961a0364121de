import { spawn } from "node:child_process";
import { createServer, Agent as HttpAgent, request } from "node:http";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { listen } from "../../server/web/listen";
import { CAPABILITY, ourBodies } from "../rig/bodies";
import { missesOfFinished } from "../rig/counts";
import { MARK, newKeys } from "../rig/load";
import { programCommand } from "../rig/peers";
import { SUBJECT_CORE, track } from "../rig/processes";
import { alternate } from "../rig/rounds";
import { percentile, spreadOf } from "../rig/statistics";
import type { Bench } from "./context";

/*
 * Goal 6 measures the time from a submit over HTTP until the provider receives the call, by way of the embedded engine in the
 * worker process, beside graphile-worker's own time from adding a job to starting it. One clock sees both ends: this process
 * submits, and it is the provider.
 */

const SUBMITTERS = 32;
const LONGEST_MS = 30_000;
const LONGEST_INTAKE_MS = 120_000;
/** The provider does not answer a call with this word, so that its job does not end. */
const HELD = "KEPT-WAITING";
const ms = (value: number) => `${value.toFixed(2)} ms`;

export async function measureStart(bench: Bench): Promise<void> {
  const { world, web, plan, say } = bench;
  const provider = await startProvider();
  const worker = await world.startPart("worker", provider.url);
  const queue = startQueue(bench);
  const agent = new HttpAgent({ keepAlive: true, maxSockets: SUBMITTERS });
  const keys = newKeys();
  let number = 0;

  async function submit(
    projectId: string,
    word = "",
  ): Promise<{ key: string; status: number; sentAt: number }> {
    const key = `${keys}${String(++number).padStart(MARK.length - keys.length, "0")}`;
    const [template = ""] = ourBodies([projectId]);
    const body = template.replaceAll(MARK, key).replace("Each of these lines", word || "Each of these lines");
    const sentAt = performance.now();
    const status = await new Promise<number>((resolve, reject) => {
      const asked = request(`${web.url}/v1/capabilities/${CAPABILITY}/jobs`, {
        method: "POST",
        agent,
        headers: {
          "content-type": "application/json",
          "content-length": Buffer.byteLength(body),
          authorization: `Bearer ${world.apiKey}`,
        },
      });
      asked.on("error", reject);
      asked.on("response", (answer) => {
        answer.resume();
        answer.on("end", () => resolve(answer.statusCode ?? 0));
      });
      asked.end(body);
    });
    return { key, status, sentAt };
  }

  async function once(projectId: string): Promise<number> {
    const { key, status, sentAt } = await submit(projectId);
    if (status !== 200) throw new Error(`a submit was answered with ${status}`);
    const calledAt = await provider.callOf(key);
    await sleep(15); // the job ends meanwhile, so that the next one starts alone
    return calledAt - sentAt;
  }

  async function ours(samples = plan.samples, projectId = world.projects[0] ?? ""): Promise<number[]> {
    const taken: number[] = [];
    for (let count = 0; count < samples; count++) taken.push(await once(projectId));
    return taken;
  }

  try {
    say("start: warming up");
    for (const each of [() => ours(), () => queue.take(plan.samples)]) {
      await each();
      await world.analyze();
      const end = performance.now() + plan.warmUpSeconds * 1000;
      while (performance.now() < end) await each();
    }
    say("start: submit to provider call beside graphile-worker's add to start");
    const rounds = await alternate(plan.rounds, {
      ours: () => ours(),
      queue: () => queue.take(plan.samples),
    });
    const p50 = (samples: number[]) => percentile(samples, 0.5);
    const mine = rounds.ours.map(p50);
    const theirs = rounds.queue.map(p50);
    const misses = await missesOfFinished(
      world.database,
      [{ keys, answered: number, connections: 0 }],
      "jobs",
    );
    bench.results.push({
      goal: 6,
      what: "Submit → provider call, p50 ÷ graphile-worker's add → start",
      ratio: spreadOf(mine.map((value, round) => value / (theirs[round] ?? Number.NaN))),
      bound: "most",
      gate: 5,
      aim: 2.5,
      ours: ms(spreadOf(mine).median),
      peer: ms(spreadOf(theirs).median),
      misses,
    });
    bench.floors.push({
      what: "Submit → provider call, p99",
      value: ms(percentile(rounds.ours.flat(), 0.99)),
    });

    say(`start: with ${plan.backlog} jobs waiting in another project`);
    const before = p50(await ours());
    await Promise.all(
      Array.from({ length: SUBMITTERS }, async (_, submitter) => {
        for (let count = submitter; count < plan.backlog; count += SUBMITTERS) {
          const { status } = await submit(world.crowdedProject, HELD);
          if (status !== 200) throw new Error(`a submit was answered with ${status}`);
        }
      }),
    );
    const sentAt = performance.now();
    await untilTakenIn(bench);
    const takenInSeconds = (performance.now() - sentAt) / 1000;
    const beside = p50(await ours());
    bench.growth.push({
      what: `Submit → provider call with 0 and ${plan.backlog} jobs waiting in another project: at most 1.5 times`,
      value: `${ms(before)}, ${ms(beside)}; the engine had taken them in ${takenInSeconds.toFixed(1)} s after the last submit`,
      holds: beside <= 1.5 * before,
    });
  } finally {
    process.kill(worker.running.pid, "SIGKILL"); // the worker waits for calls that never end
    await worker.running.stop();
    await queue.stop();
    agent.destroy();
    provider.close();
  }
}

/** Waits until the engine has taken in every job of the crowded project, for at most `LONGEST_INTAKE_MS`. */
async function untilTakenIn({ world, plan }: Bench): Promise<void> {
  const end = performance.now() + LONGEST_INTAKE_MS;
  while (performance.now() < end) {
    const { rowCount } = await world.database.query("SELECT FROM run_slot WHERE limit_key = $1 OFFSET $2", [
      `job/admitted:${world.crowdedProject}`,
      plan.backlog - 1,
    ]);
    if (rowCount) return;
    await sleep(100);
  }
}

/**
 * Starts the provider in this process: it notes when the call with a key arrives, and answers each call without the word `HELD`.
 */
async function startProvider() {
  const answer = JSON.stringify({
    id: "chatcmpl-bench",
    object: "chat.completion",
    model: "bench",
    choices: [{ index: 0, message: { role: "assistant", content: "Done." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 400, completion_tokens: 2, total_tokens: 402 },
  });
  const arrived = new Map<string, number>();
  const awaited = new Map<string, (at: number) => void>();
  const server = createServer((asked, answered) => {
    const at = performance.now();
    let body = "";
    asked.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    asked.on("end", () => {
      if (body.includes(HELD)) return;
      const key = /b[0-9a-z]{9}-\d{13}/.exec(body)?.[0] ?? "";
      const wanted = awaited.get(key);
      if (wanted) wanted(at);
      else arrived.set(key, at);
      answered.writeHead(200, {
        "content-type": "application/json",
        "content-length": Buffer.byteLength(answer),
      });
      answered.end(answer);
    });
  });
  const url = await listen(server, { host: "127.0.0.1", port: 0 });
  return {
    url,
    /** Resolves with the time when the call with this key arrived, by the clock of this process; rejects after `LONGEST_MS`. */
    callOf(key: string): Promise<number> {
      const at = arrived.get(key);
      if (at !== undefined) return Promise.resolve(at);
      return new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error("a job was not started in time")), LONGEST_MS);
        awaited.set(key, (calledAt) => {
          clearTimeout(late);
          awaited.delete(key);
          resolve(calledAt);
        });
      });
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function startQueue({ world }: Bench) {
  const child = spawn("taskset", ["-c", String(SUBJECT_CORE), ...programCommand("queue")], {
    env: { ...process.env, DATABASE_URL: world.peerDatabaseUrl, NODE_ENV: "production" },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const running = track("graphile-worker", child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async take(samples: number): Promise<number[]> {
      child.stdin.write(`${samples}\n`);
      const line = await lines.next();
      if (line.done) throw new Error("graphile-worker ended");
      return JSON.parse(line.value) as number[];
    },
    stop: () => running.stop(),
  };
}
