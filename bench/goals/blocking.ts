import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { request as ask } from "undici";
import { freePort } from "../../scripts/launch/system";
import type { Waits } from "../programs/probe";
import { type Operation, operationsOf } from "../rig/blocking-operations";
import { inflated } from "../rig/inflate";
import { PEERS } from "../rig/peers";
import { cpuMicros, LOAD_CORE, start, untilAnswers } from "../rig/processes";
import type { World } from "../rig/world";
import type { Bench } from "./context";

/*
 * Shows that nothing holds the event loop: while every route that takes a body answers the largest and the strangest bodies,
 * others must be answered too. A thread asks /healthz without a pause. What counts is its longest wait, but no more than the time
 * in which the main thread of the web process had its core: the rest of a wait belongs to other programs of the machine. A row
 * above its limit is measured again and counts with the least of its tries, because what the product itself holds is held in
 * every try.
 */

const MEGABYTE = 1024 * 1024;
/** Leaves room below the limit for the text around what is inflated. */
const MARGIN = 8 * 1024;
/** Longest wait of others, in milliseconds, for bodies up to 1 MiB and for larger ones. */
const LIMITS = { small: 25, large: 200 };
const TRIES = 4;
/** Route that a trial sends its bodies to. */
const TRIED = "/text.reasoning.high.v1/invoke";

type Row = {
  operation: string;
  what: string;
  bytes: number;
  status: number;
  /** Longest wait by the clock, and longest work of the main thread during a wait. */
  waitMs: number;
  workMs: number;
  tries: number;
  cpuMs: number;
  tookMs: number;
};

export async function measureBlocking(bench: Bench, { match = "" }: { match?: string } = {}): Promise<void> {
  const { world, plan, say } = bench;
  const sandboxPort = await freePort();
  const sandbox = start("sandbox", LOAD_CORE, [process.execPath, "dist/sandbox.mjs"], {
    env: { ...process.env, CAPSTAN_DATA_DIR: world.directory, SANDBOX_PORT: String(sandboxPort) },
    log: world.log("sandbox"),
  });
  const sandboxUrl = `http://127.0.0.1:${sandboxPort}`;
  await untilAnswers(`${sandboxUrl}/healthz`, sandbox, world.log("sandbox"));
  const web = await world.startPart("web", world.upstream.url, [], { SANDBOX: "1", SANDBOX_URL: sandboxUrl });
  const headers = {
    authorization: `Bearer ${world.apiKey}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream", // MCP refuses a client that does not accept both
  };
  const probe = new Worker(join(PEERS, "programs/probe.mjs"), {
    workerData: { url: `${web.url}/healthz`, pid: web.running.pid },
  });
  probe.on("error", () => {}); // a call of `waited` that is under way rejects with the error
  async function waited(): Promise<Waits> {
    probe.postMessage("end");
    const [waits] = await once(probe, "message");
    return waits as Waits; // probe.ts sends this type
  }

  async function measure(operation: Operation, what: string, value: unknown): Promise<Row> {
    const body = Buffer.from(operation.toBody(value));
    const row: Row = {
      operation: operation.name,
      what,
      bytes: body.length,
      status: 0,
      waitMs: Number.POSITIVE_INFINITY,
      workMs: Number.POSITIVE_INFINITY,
      tries: 0,
      cpuMs: 0,
      tookMs: 0,
    };
    const limit = limitOf(row);
    while (row.tries < TRIES && countedMs(row) > limit) {
      row.tries++;
      await settled();
      const [cpu, since] = [cpuMicros(web.running.pid), performance.now()];
      const answer = await ask(`${web.url}${operation.path}`, { method: operation.method, headers, body });
      await answer.body.dump({ limit: 64 * MEGABYTE });
      const tookMs = performance.now() - since;
      const waits = await waited();
      if (countedMs(waits) >= countedMs(row)) continue;
      Object.assign(row, {
        ...waits,
        status: answer.statusCode,
        tookMs,
        cpuMs: (cpuMicros(web.running.pid) - cpu) / 1000,
      });
    }
    return row;
  }

  /** Waits until nobody waits for earlier work any more, at most 50 times on a busy machine, and lets the probe begin anew. */
  async function settled(): Promise<void> {
    for (let quiet = 0, asked = 0; quiet < 2 && asked < 50; asked++)
      quiet = (await pauseAndAsk()) < 15 ? quiet + 1 : 0;
    probe.postMessage("begin");
  }
  async function pauseAndAsk(): Promise<number> {
    await new Promise((resolve) => setTimeout(resolve, 4));
    return countedMs(await waited());
  }

  const operations = await operationsNamed(match || (plan.isTrial ? TRIED : ""), web.url, world);
  say("blocking: warming up");
  for (let round = 0; round < (plan.isTrial ? 1 : 20); round++)
    for (const operation of operations.slice(0, 8)) await measure(operation, "as it is", operation.base);

  const rows: Row[] = [];
  for (const operation of operations) {
    const sizes = [MEGABYTE, ...(operation.limit > MEGABYTE && plan.hasLargeBodies ? [operation.limit] : [])];
    const own: Row[] = [await measure(operation, "as it is", operation.base)];
    for (const size of sizes)
      for (const { where, how, body } of inflated(operation.schema, operation.base, size - MARGIN))
        own.push(await measure(operation, `${where}: ${how}`, body));
    rows.push(...own);
    const worst = (isSmall: boolean) =>
      worstOf(own.filter((row) => row.bytes <= MEGABYTE === isSmall))
        .map(
          (row) =>
            `${row.bytes <= MEGABYTE ? "≤" : ">"} 1 MiB ${countedMs(row).toFixed(0)} ms (${row.what}, ${row.status})`,
        )
        .join("");
    const base = own[0]?.status;
    say(`blocking: ${operation.name} (${base}), ${own.length} bodies: ${worst(true)} ${worst(false)}`);
    for (const row of own.filter(isOver)) say(`  OVER ${line(row)}`);
  }
  await probe.terminate();
  await web.running.stop();
  await sandbox.stop();

  const over = rows.filter(isOver);
  for (const isSmall of [true, false]) {
    const some = rows.filter((row) => row.bytes <= MEGABYTE === isSmall);
    const [worst] = worstOf(some);
    if (!worst) continue;
    bench.limits.push({
      what: `Bodies ${isSmall ? "up to 1 MiB" : "above that, up to their routes' limits"}, ${some.length} bodies to ${operations.length} routes and capabilities: at most ${isSmall ? LIMITS.small : LIMITS.large} ms`,
      value: `${countedMs(worst).toFixed(0)} ms, ${worst.operation}, ${worst.what}`,
      holds: !some.some(isOver),
    });
  }
  for (const row of over)
    bench.limits.push({ what: `${row.operation}, ${row.what}`, value: line(row), holds: false });
}

/** Finds the routes with this text in their names. Throws when there are none, because nothing would be measured. */
async function operationsNamed(match: string, url: string, world: World): Promise<Operation[]> {
  const operations = await operationsOf(url, world.apiKey, world.projects[0] ?? "");
  const named = operations.filter(({ name }) => name.includes(match));
  if (named.length === 0) throw new Error(`No route has ${JSON.stringify(match)} in its name.`);
  return named;
}

const limitOf = ({ bytes }: Row) => (bytes <= MEGABYTE ? LIMITS.small : LIMITS.large);
const countedMs = ({ waitMs, workMs }: Waits) => Math.min(waitMs, workMs);
const isOver = (row: Row) => countedMs(row) > limitOf(row);
const worstOf = (rows: Row[]) => rows.toSorted((a, b) => countedMs(b) - countedMs(a)).slice(0, 1);
const line = (row: Row) =>
  `${countedMs(row).toFixed(0)} ms in the best of ${row.tries} (waited ${row.waitMs.toFixed(0)} ms, ${row.cpuMs.toFixed(0)} ms CPU, answered ${row.status} in ${row.tookMs.toFixed(0)} ms, ${(row.bytes / MEGABYTE).toFixed(1)} MiB): ${row.what}`;
