import { parseArgs } from "node:util";
import { build, isBuilt } from "../scripts/launch/build";
import { generate } from "../scripts/launch/generate";
import { measureBlocking } from "./goals/blocking";
import { measureCatalog } from "./goals/catalog";
import type { Bench } from "./goals/context";
import { measureCounts } from "./goals/counts";
import { measureInvoke } from "./goals/invoke";
import { measureStart } from "./goals/start";
import { measureSubmit } from "./goals/submit";
import { buildEmptyApp, buildPrograms, installPeers, installWrk, missingTools } from "./rig/peers";
import { LOAD_CORE, pinSelf, stopAll } from "./rig/processes";
import { isHeld, machineFacts, type Outcome, toMarkdown, writeTable } from "./rig/report";
import { openWorld, tailOf, type World } from "./rig/world";

/*
 * Measures what docs/operate/capacity.md promises, beside peers on the same machine in the same run, and writes its table
 * there. `npm run bench`, or with `-- --quick` for fewer and shorter rounds, `-- --only invoke,submit` for some of
 * blocking, catalog, counts, invoke, start, submit (then nothing is written), `-- --match <text>` for the routes of blocking whose
 * names have it, `-- --profile <folder>` for CPU profiles of the web process, `-- --as-built` to measure dist as it stands. Exit code 1 when a gate is lost or the run is void.
 */

const GOALS = {
  blocking: (bench: Bench) => measureBlocking(bench, { match: options.match }),
  catalog: measureCatalog,
  counts: measureCounts,
  invoke: measureInvoke,
  start: measureStart,
  submit: measureSubmit,
};
type Goal = keyof typeof GOALS;

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    only: { type: "string" },
    match: { type: "string" },
    profile: { type: "string" },
    "as-built": { type: "boolean", default: false },
  },
});
const plan = options.quick
  ? { rounds: 3, seconds: 2, warmUpSeconds: 12 }
  : { rounds: 5, seconds: 3, warmUpSeconds: 20 };
const wanted = (Object.keys(GOALS) as Goal[]).filter(
  (goal) => !options.only || options.only.split(",").includes(goal),
); // keys of GOALS
const startedAt = Date.now();
const say = (line: string) =>
  console.log(`${String(Math.round((Date.now() - startedAt) / 1000)).padStart(4)} s  ${line}`);

let world: World | undefined;
async function clean() {
  await stopAll();
  await world?.close();
}
process.once("SIGINT", () => void clean().then(() => process.exit(130)));

async function main(): Promise<boolean> {
  if (wanted.some((goal) => goal !== "blocking" && goal !== "counts")) preparePeers();
  await buildPrograms();
  generate(); // in a fresh clone there is nothing to build from yet
  if (!options["as-built"] && !isBuilt()) {
    say("building");
    await build();
  }
  pinSelf(LOAD_CORE);
  say("starting PostgreSQL, upstream and web");
  world = await openWorld();
  const bench: Bench = {
    world,
    web: await startWeb(world),
    plan,
    results: [],
    floors: [],
    growth: [],
    nulls: [],
    limits: [],
    say,
  };
  for (const goal of wanted) await GOALS[goal](bench);

  const { rows } = await world.database.query<{ server_version: string }>("SHOW server_version");
  const outcome: Outcome = {
    ...bench,
    results: bench.results.sort((a, b) => a.goal - b.goal),
    machine: machineFacts(
      rows[0]?.server_version ?? "",
      `${plan.rounds} rounds of ${plan.seconds} s each, A B A B${options.quick ? "; a quick run" : ""}`,
    ),
  };
  const markdown = toMarkdown(outcome);
  console.log(`\n${markdown}\n`);
  if (!options.only && !options.profile) writeTable(markdown);
  return isHeld(outcome);
}

/** What other goals are measured beside, and with. */
function preparePeers(): void {
  installWrk();
  const missing = missingTools();
  if (missing.length > 0) throw new Error(`The bench needs:\n- ${missing.join("\n- ")}`);
  say("installing peers into bench/peers");
  installPeers();
  buildEmptyApp();
}

function startWeb(world: World) {
  const profiling = options.profile
    ? ["--cpu-prof", `--cpu-prof-dir=${options.profile}`, "--enable-source-maps"]
    : [];
  return world.startPart("web", world.upstream.url, profiling);
}

try {
  const held = await main();
  await clean();
  process.exit(held ? 0 : 1);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  for (const name of ["web", "worker"]) if (world) console.error(tailOf(world.log(name)));
  await clean();
  process.exit(1);
}
