import { join } from "node:path";
import { request as ask } from "undici";
import { freePort } from "../../scripts/launch/system";
import { type Operation, operationsOf } from "../rig/blocking-operations";
import {
  isOver,
  isSmall,
  LIMITS,
  line,
  measureUntilWithin,
  type Row,
  survey,
  worstOf,
} from "../rig/blocking-survey";
import { meterAt } from "../rig/meter";
import { PEERS } from "../rig/peers";
import type { World } from "../rig/world";
import type { Bench } from "./context";

/*
 * Shows that nothing blocks the event loop: routes that take a body answer the largest and the strangest bodies, and a meter in
 * the web process reports the longest time that its main thread worked between two turns of the loop. That is how long others
 * wait.
 */

const MEGABYTE = 1024 * 1024;
/** Route that a trial sends its bodies to. */
const TRIED = "/text.reasoning.high.v1/invoke";

/** Number of bodies over their limits that the table lists, the worst first; the output lists all of them. */
const SHOWN = 10;

export async function measureBlocking(bench: Bench, { match }: { match?: string } = {}): Promise<void> {
  const { world, plan, say } = bench;
  const sandbox = await world.startSandbox();
  const meterPort = await freePort();
  const web = await world.startPart(
    "web",
    world.upstream.url,
    ["--import", join(PEERS, "programs/meter.mjs")],
    { SANDBOX: "1", SANDBOX_URL: sandbox.url, METER_PORT: String(meterPort) },
  );
  const headers = {
    authorization: `Bearer ${world.apiKey}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream", // MCP refuses a client that does not accept both
  };
  const meter = meterAt(meterPort);

  async function measure(operation: Operation, what: string, value: unknown): Promise<Row> {
    const body = Buffer.from(operation.toBody(value));
    return measureUntilWithin({ operation: operation.name, what, bytes: body.length }, async () => {
      await meter.begin();
      const since = performance.now();
      // Each request opens a new connection, because the server may close an idle one while a large body is made.
      const answer = await ask(`${web.url}${operation.path}`, {
        method: operation.method,
        reset: true,
        headers,
        body,
      }).catch((error) => Promise.reject(new Error(`${operation.name}, ${what}: ${error}`)));
      await answer.body.dump({ limit: 64 * MEGABYTE });
      const tookMs = performance.now() - since;
      return { ...(await meter.end()), status: answer.statusCode, tookMs };
    });
  }

  const operations = await operationsNamed(match ?? (plan.isTrial ? TRIED : ""), web.url, world);
  say("blocking: warming up");
  for (let round = 0; round < (plan.isTrial ? 1 : 20); round++)
    for (const operation of operations.slice(0, 8)) await measure(operation, "as it is", operation.base);
  const isWhole = match !== undefined || plan.isTrial;
  const rows = await survey(operations, measure, { isWhole, hasLargeBodies: plan.hasLargeBodies, say });
  await web.running.stop();
  await sandbox.running.stop();

  for (const [some, title, limit] of [
    [rows.filter(isSmall), "up to 1 MiB", LIMITS.small],
    [rows.filter((row) => !isSmall(row)), "above that, up to their routes' limits", LIMITS.large],
  ] as const) {
    const worst = worstOf(some);
    if (!worst) continue;
    const routes = new Set(some.map(({ operation }) => operation)).size;
    bench.limits.push({
      what: `Bodies ${title}, ${some.length} bodies to ${routes} routes and capabilities: at most ${limit} ms`,
      value: `${worst.cpuMs.toFixed(0)} ms, ${worst.operation}, ${worst.what}; ${some.filter(isOver).length} are over`,
      holds: !some.some(isOver),
    });
  }
  const over = rows.filter(isOver).sort((a, b) => b.cpuMs - a.cpuMs);
  for (const row of over.slice(0, SHOWN))
    bench.limits.push({ what: `${row.operation}, ${row.what}`, value: line(row), holds: false });
}

/** Finds the routes with this text in their names. Throws when there are none, because nothing would be measured. */
async function operationsNamed(match: string, url: string, world: World): Promise<Operation[]> {
  const operations = await operationsOf(url, world.apiKey, world.projects[0] ?? "");
  const named = operations.filter(({ name }) => name.includes(match));
  if (named.length === 0) throw new Error(`No route has ${JSON.stringify(match)} in its name.`);
  return named;
}
