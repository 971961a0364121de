import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build, isBuilt } from "../scripts/launch/build";
import { lastLines } from "../scripts/launch/child";
import { endWithChildren } from "../scripts/launch/ending";
import { generate } from "../scripts/launch/generate";
import { measureBlocking } from "./goals/blocking";
import { measureCalls } from "./goals/calls";
import { measureCatalog } from "./goals/catalog";
import type { Bench } from "./goals/context";
import { measureCounts } from "./goals/counts";
import { measureInvoke } from "./goals/invoke";
import { measureStart } from "./goals/start";
import { measureSubmit } from "./goals/submit";
import { type Goal, NEEDS_OF, readOptions } from "./options";
import { buildPrograms, missingOf, type Need, PEERS, prepare } from "./rig/peers";
import { LOAD_CORE, pinSelf, runningNow, stopAll } from "./rig/processes";
import { faultsOf, isHeld, machineFacts, type Outcome, toMarkdown, writeTable } from "./rig/report";
import { openWorld, type Part, type World } from "./rig/world";

/*
 * Measures what docs/operate/capacity.md promises, beside peers on the same machine in the same run, and writes its table there.
 * `npm run bench` runs every goal but calls. Options after `--`: `--quick` makes fewer and shorter rounds, `--trial` one of a
 * second each, which shows that every goal still runs. `--only invoke,submit` measures some goals, and then nothing is written.
 * `--against <folder>` compares the calls with those of another checkout. `--match <text>` sends every body of blocking to the
 * routes whose names have the text. `--profile <folder>` writes CPU profiles of the web process. `--as-built` measures dist as
 * it is. `--prepare` only installs and builds the peers. The exit code is 1 when a gate or a limit does not hold, a goal fails
 * or the run is void, and 2 when the options cannot be read.
 */

const GOALS: Record<Goal, (bench: Bench) => Promise<void>> = {
  blocking: (bench) => measureBlocking(bench, options.match === undefined ? {} : { match: options.match }),
  calls: (bench) => measureCalls(bench, options.against!), // parseOptions requires it
  catalog: measureCatalog,
  counts: measureCounts,
  invoke: measureInvoke,
  start: measureStart,
  submit: measureSubmit,
};

/** Result of a goal of a trial, as it is sent to the process that started this one. */
export type Tried = { goal: Goal; faults: string[]; missing: string[] };

/** A trial can try every goal in full without these. */
const DISPENSABLE: readonly Need[] = ["portkey"];

type Measured = Pick<Bench, "results" | "floors" | "growth" | "nulls" | "limits"> & Pick<Outcome, "failures">;
const nothing = (): Measured => ({
  ...{ results: [], floors: [], growth: [], nulls: [], limits: [] },
  failures: [],
});

const options = readOptions();
const { plan } = options;
const RESULTS = join(PEERS, "results.md");
const startedAt = Date.now();
const say = (line: string) =>
  console.log(`${String(Math.round((Date.now() - startedAt) / 1000)).padStart(4)} s  ${line}`);

async function main(): Promise<boolean> {
  const needs = [...new Set(options.goals.flatMap((goal): readonly Need[] => NEEDS_OF[goal]))];
  say("preparing what Capstan is measured with and beside");
  // A trial needs no network: it builds what it can, for goals that lack nothing else.
  const possible = options.goals.filter((goal) => canBeTried(goal, ["portkey", "empty app"]));
  await prepare(plan.isTrial ? (possible.includes("catalog") ? ["empty app"] : []) : needs);
  const missing = missingOf(needs);
  if (missing.length > 0 && !plan.isTrial) throw new Error(`The bench needs:\n- ${missing.join("\n- ")}`);
  if (options.onlyPrepares) return true;
  if (possible.length === 0) return options.goals.map((goal) => tell(goal, nothing())).every(Boolean);
  await buildPrograms();
  generate(); // in a fresh clone there is nothing to build from yet
  if (!options.isAsBuilt && !isBuilt()) {
    say("building");
    await build();
  }
  pinSelf(LOAD_CORE);
  say("starting PostgreSQL, upstream and web");
  const world = await openWorld();
  try {
    return await measureAll(world);
  } finally {
    await stopAll();
    await world.close();
  }
}

async function measureAll(world: World): Promise<boolean> {
  const { rows } = await world.database.query<{ server_version: string }>("SHOW server_version");
  const machine = machineFacts(
    rows[0]?.server_version ?? "",
    `${plan.rounds} rounds of ${plan.seconds} s each${options.isQuick ? "; a quick run" : ""}`,
  );
  const all = nothing();
  writeFileSync(RESULTS, "");
  let web = await startWeb(world);
  let wentWell = true;
  for (const goal of options.goals) {
    if (web.running.hasEnded()) web = await startWeb(world);
    const measured = canBeTried(goal) ? await measure(goal, world, web) : nothing();
    for (const part of ["results", "floors", "growth", "nulls", "limits", "failures"] as const)
      (all[part] as unknown[]).push(...measured[part]); // both lists are the same part, so their items have one type
    const markdown = toMarkdown({ ...measured, machine: [] });
    console.log(`\n${goal}\n${markdown}\n`);
    appendFileSync(RESULTS, `\n## ${goal}\n${markdown}\n`);
    if (plan.isTrial && !tell(goal, measured)) wentWell = false;
  }
  if (plan.isTrial) return wentWell;
  const outcome = { ...all, results: all.results.sort((a, b) => a.goal - b.goal), machine };
  const markdown = toMarkdown(outcome);
  console.log(`\n${markdown}\n\nAlso in ${RESULTS}, goal by goal.`);
  if (options.isWhole && options.profile === undefined) writeTable(markdown);
  return isHeld(outcome);
}

/** True if a goal lacks nothing but these. */
const canBeTried = (goal: Goal, but = DISPENSABLE): boolean =>
  missingOf(NEEDS_OF[goal].filter((need) => !but.includes(need))).length === 0;

/**
 * Tells how a goal of a trial went, here and to the process that started this one. True if it lacked nothing and has no fault.
 */
function tell(goal: Goal, measured: Measured): boolean {
  const tried: Tried = { goal, faults: faultsOf(measured), missing: missingOf(NEEDS_OF[goal]) };
  for (const what of tried.missing) say(`${goal}: there is no ${what}`);
  if (process.connected) process.send?.(tried);
  return tried.faults.length + tried.missing.length === 0;
}

/** Measures one goal. Its failure becomes a line of its own and leaves nothing running that could disturb the others. */
async function measure(goal: Goal, world: World, web: Part): Promise<Measured> {
  const measured = nothing();
  const before = runningNow();
  try {
    await GOALS[goal]({ world, web, plan, say, ...measured });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    measured.failures.push({ goal, why });
    say(`${goal}: failed: ${why}`);
    for (const name of ["web", "worker"]) console.error(lastLines(world.log(name), 12));
  } finally {
    await stopAll(before);
  }
  return measured;
}

function startWeb(world: World): Promise<Part> {
  const profiling = options.profile
    ? ["--cpu-prof", `--cpu-prof-dir=${options.profile}`, "--enable-source-maps"]
    : [];
  return world.startPart("web", world.upstream.url, profiling);
}

endWithChildren();
if (process.connected) process.once("disconnect", () => process.kill(process.pid, "SIGTERM")); // the parent process has ended
try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
process.exit();
