import { request as ask } from "undici";
import { freePort } from "../../scripts/launch/system";
import { CAPABILITY } from "../rig/bodies";
import { load, type Round } from "../rig/load";
import { EMPTY_APP_DIR, emptyAppCommand } from "../rig/peers";
import { SUBJECT_CORE, start, untilAnswers } from "../rig/processes";
import { alternate, medianOf, ratioOf } from "../rig/rounds";
import type { Bench } from "./context";

/* Goal 9 measures the catalog beside an empty route handler of Next, which the same version of Next builds and serves. */

const CONNECTIONS = 16;
const PATHS = {
  list: "/v1/capabilities",
  summary: "/v1/capabilities?view=summary",
  "one key": `/v1/capabilities/${CAPABILITY}`,
};

export async function measureCatalog(bench: Bench): Promise<void> {
  const { world, web, plan, say } = bench;
  const port = await freePort();
  const log = world.log("empty-app");
  const running = start("empty Next app", SUBJECT_CORE, emptyAppCommand(port), {
    env: { ...process.env, NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" },
    cwd: EMPTY_APP_DIR,
    log,
  });
  const emptyUrl = `http://127.0.0.1:${port}/empty`;
  await untilAnswers(emptyUrl, running, log);
  const authorization = `Bearer ${world.apiKey}`;
  const get = (path: string, headers: Record<string, string> = {}, seconds = plan.seconds) =>
    load(world.directory, {
      url: `${web.url}${path}`,
      headers: { authorization, ...headers },
      connections: CONNECTIONS,
      seconds,
      pauseMs: plan.pauseMs,
      subject: web.running.pid,
    });
  const empty = (seconds = plan.seconds) =>
    load(world.directory, {
      url: emptyUrl,
      connections: CONNECTIONS,
      seconds,
      pauseMs: plan.pauseMs,
      subject: running.pid,
    });

  say("catalog: warming up");
  await empty(plan.warmUpSeconds);
  for (const path of Object.values(PATHS)) await get(path, {}, 1);

  say("catalog: list, summary, one key");
  const rounds = await alternate(plan.rounds, {
    list: () => get(PATHS.list),
    summary: () => get(PATHS.summary),
    "one key": () => get(PATHS["one key"]),
    empty: () => empty(),
  });
  const perSecond = (round: Round) => round.perSecond;
  const figures = (samples: Round[]) =>
    `${Math.round(medianOf(samples, perSecond))}/s, ${Math.round(medianOf(samples, (round) => round.cpuMicros))} µs CPU`;
  for (const name of ["list", "summary", "one key"] as const) {
    bench.results.push({
      goal: 9,
      what: `Catalog GET, ${name}, per second ÷ an empty Next route`,
      ratio: ratioOf(rounds[name], rounds.empty, perSecond),
      bound: "least",
      gate: 0.9,
      aim: 5,
      ours: figures(rounds[name]),
      peer: figures(rounds.empty),
      misses: [],
    });
  }

  for (const [name, path] of Object.entries(PATHS)) {
    const told = await tagOf(`${web.url}${path}`, authorization);
    bench.floors.push({ what: `Catalog GET, ${name}: 304 for its ETag`, value: told, holds: told === "304" });
  }
  await running.stop();
}

/** Returns the status of a second request with the ETag of the first, or "no ETag". */
async function tagOf(url: string, authorization: string): Promise<string> {
  const first = await ask(url, { headers: { authorization } });
  await first.body.dump();
  const { etag } = first.headers;
  if (typeof etag !== "string") return "no ETag";
  const second = await ask(url, { headers: { authorization, "if-none-match": etag } });
  await second.body.dump();
  return String(second.statusCode);
}
