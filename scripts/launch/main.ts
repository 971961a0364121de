import { spawn } from "node:child_process";
import { existsSync, openSync, readdirSync, rmSync, watch } from "node:fs";
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join, relative } from "node:path";
import { z } from "zod";
import { env as settings } from "@/server/platform/settings/env";
import { checkSettings } from "@/server/platform/settings/secrets";
import { runMainJob } from "../main-job";
import { build, bundlePrograms, isBuilt } from "./build";
import { lastLines } from "./child";
import { endNow, endWithChildren, whenShellEnds } from "./ending";
import { findFile } from "./files";
import { runFirstJob } from "./first-job";
import { generate } from "./generate";
import { pathsOf, startInstance } from "./instance";
import { clusterDir, stopPostgres } from "./postgres";
import { clockBeganAt, openReport, type Report } from "./report";
import { endLeftovers, findRunning, removeRuntime } from "./runtime";
import { canListen, endProcess, isAlive } from "./system";

export { test } from "../test/run";

/** --detached and --attached are internal: started by another process, to outlive it or to end with it. */
const OPTIONS = ["--dev", "--detach", "--without-main-job", "--detached", "--attached"];
const Access = z.object({
  apiKey: z.string(),
  projectId: z.string(),
  operator: z.object({ email: z.string() }),
});

/** `npm run up`: from the sources to a running installation, which runs a first job when it is new. */
export async function up(args: string[]) {
  const unknown = args.find((arg) => !OPTIONS.includes(arg));
  if (unknown) throw new Error(`Unknown option ${unknown}. Options: --detach, --without-main-job.`);
  const release = endWithChildren(); // ends the builders; what starts later is stopped in order
  const dev = args.includes("--dev");
  const detached = args.includes("--detached");
  const attached = args.includes("--attached");
  const report = openReport((line) => {
    console.log(line);
    if (process.connected) process.send?.({ line });
  });
  checkSettings();
  const { dataDir } = pathsOf(settings);

  const running = findRunning(dataDir);
  if (running && running.pids.supervisor !== process.pid) {
    report.say(`Capstan is already running at ${running.baseUrl} (process ${running.pids.supervisor}).`);
    report.say("Stop it with: npm run down");
    return;
  }
  const left = await endLeftovers(dataDir);
  if (left > 0) report.say(`Stopped ${left} processes left over from an earlier start.`);
  if (settings.PORT !== 0 && !(await canListen(settings.PORT, settings.HOST)))
    throw new Error(
      `Port ${settings.PORT} is in use by another program. Stop it, or choose another port: PORT=3001 npm run up`,
    );
  if (!detached && !attached) await prepareSources(report, dev); // otherwise the process that started this one has done it
  release();
  if (args.includes("--detach")) return detach(args);
  if (dev) watchGenerated(report);
  await stayUp(report, { dev, detached, attached, withMainJob: !args.includes("--without-main-job") });
}

/** `npm run build`: everything that a start needs, for a machine or an image that starts its processes separately. */
export async function buildOnly(args: string[]) {
  if (args.length > 0) throw new Error(`Unknown option ${args[0]}.`);
  endWithChildren();
  await prepareSources(openReport(console.log), false);
}

async function prepareSources(report: Report, dev: boolean) {
  await report.step(
    "Generating the database client and registries",
    () => generate(),
    ({ prisma, registries }) => (prisma || registries.length > 0 ? "done" : "nothing changed"),
  );
  if (dev) return void (await bundlePrograms(["lifeline", "seed"]));
  if (isBuilt()) report.say("Building … nothing changed");
  else await report.step("Building", build);
}

type Stay = { dev: boolean; detached: boolean; attached: boolean; withMainJob: boolean };

/** Starts everything and keeps it running until a signal, or the end of the process that it is attached to. */
async function stayUp(report: Report, { dev, detached, attached, withMainJob }: Stay) {
  const stop = new AbortController();
  let fatal: Error | undefined;
  const ask = (why: string) => {
    if (stop.signal.aborted) {
      endNow();
      process.exit(1);
    }
    report.say(`${why}: stopping. Repeat to stop without waiting.`);
    stop.abort(new Error("Stopped during the start."));
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => {
      if (detached && signal === "SIGHUP") return; // the terminal was closed
      ask(signal);
    });
  if (!detached && !attached) whenShellEnds(() => ask("The shell of this command ended"));
  const parentEnded = () => ask("The process that started this one ended");
  process.once("disconnect", parentEnded);

  const instance = await startInstance({
    settings,
    dev,
    report,
    signal: stop.signal,
    failed(error) {
      fatal = error;
      stop.abort(error);
    },
  });
  const asked = new Promise<void>((resolve) => {
    if (stop.signal.aborted) resolve();
    else stop.signal.addEventListener("abort", () => resolve());
  });
  try {
    await announce(report, instance, withMainJob, asked);
    if (process.connected) {
      process.send?.({ ready: true });
      if (!attached) {
        process.off("disconnect", parentEnded);
        process.disconnect();
      }
    }
    await asked;
  } finally {
    await instance.stop();
  }
  if (fatal) throw fatal;
  process.exit(0);
}

type Announced = { localUrl: string; publicUrl: string; isNew: boolean };

async function announce(report: Report, instance: Announced, withMainJob: boolean, asked: Promise<void>) {
  const { dataDir } = pathsOf(settings);
  const inside = relative(process.cwd(), dataDir);
  const shown = inside === "" || inside.startsWith("..") ? dataDir : inside;
  const access = readAccess(join(dataDir, "bootstrap.json"));
  const sandboxOn = settings.SANDBOX || settings.CAPSTAN_ENV !== "production";
  // The first job runs only in a new installation: later a policy, a budget or a price of its people may refuse the job.
  const isFirst = withMainJob && instance.isNew && access !== null;
  if (isFirst && sandboxOn) {
    const job = runFirstJob(report, () => runMainJob({ ...access, baseUrl: instance.localUrl }));
    const isStopped = await Promise.race([job.then(() => false), asked.then(() => true)]);
    if (isStopped) return;
  } else if (isFirst)
    report.say("The first job was skipped because the sandbox provider is off. Set SANDBOX=1 to enable it.");
  report.say(`Capstan is ready: ${instance.publicUrl}`);
  if (!access) return;
  const file = join(shown, "bootstrap.json");
  report.say(
    instance.isNew
      ? `Sign in as ${access.operator.email}, the owner; passwords and API keys: ${file}`
      : `The first owner is ${access.operator.email}; the first passwords and API keys: ${file}`,
  );
}

/** The access that the seed wrote into the data directory; null if its file is missing or cannot be read. */
function readAccess(file: string): z.output<typeof Access> | null {
  try {
    return Access.parse(JSON.parse(findFile(file) ?? "null"));
  } catch {
    return null;
  }
}

/** Starts the same command without a terminal, prints its output until it is ready, and leaves it running. */
async function detach(args: string[]) {
  const { dataDir, log } = pathsOf(settings);
  await mkdir(join(dataDir, "logs"), { recursive: true });
  const file = log("supervisor");
  const output = openSync(file, "a", 0o600);
  const rest = args.filter((arg) => arg !== "--detach");
  const child = spawn(process.execPath, ["scripts/up.mjs", "--detached", ...rest], {
    detached: true,
    stdio: ["ignore", output, output, "ipc"],
    env: { ...process.env, CAPSTAN_CLOCK: String(clockBeganAt()) },
  });
  await new Promise<void>((resolve, reject) => {
    child.on("message", (message: { line?: string; ready?: true }) => {
      if (message.line) console.log(message.line);
      if (message.ready) resolve();
    });
    child.on("error", reject);
    child.on("exit", () => reject(new Error(`Capstan did not start (${file}):\n${lastLines(file, 12)}`)));
  });
  console.log(`Running in the background as process ${child.pid}; log: ${file}. Stop it with: npm run down`);
  process.exit(0);
}

// New capabilities, providers and functions, and schema changes, are picked up during development.
function watchGenerated(report: Report) {
  let timer: NodeJS.Timeout | undefined;
  const refresh = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      try {
        const { prisma, registries } = generate();
        if (prisma)
          report.say("Regenerated the database client. If tables changed: npm run migrate -- dev --name …");
        for (const path of registries) report.say(`Wrote ${path}`);
      } catch (error) {
        report.say(error instanceof Error ? error.message : String(error));
      }
    }, 100);
  };
  for (const folder of ["server/capabilities", "server/providers", "inngest/functions", "prisma/schema"])
    watch(folder, refresh).unref();
}

/** `npm run down`: stops the installation of this data directory. */
export async function down() {
  const report = openReport(console.log);
  const { dataDir } = pathsOf(settings);
  const running = findRunning(dataDir);
  if (running) {
    await report.step(`Stopping Capstan (process ${running.pids.supervisor})`, () =>
      endProcess(running.pids.supervisor, 120_000),
    );
    if (isAlive(running.pids.supervisor)) throw new Error("Capstan did not stop.");
  }
  const left = await endLeftovers(dataDir);
  if (left > 0) report.say(`Stopped ${left} leftover processes.`);
  const hadPostgres = existsSync(join(dataDir, "postgres.password")) && (await stopPostgres(dataDir));
  if (hadPostgres) report.say("Stopped PostgreSQL.");
  removeRuntime(dataDir);
  if (!running && left === 0 && !hadPostgres) report.say("Nothing was running.");
}

/** Identifies a data directory of ours; anything else is not deleted. */
const KNOWN = [
  "secrets.json",
  "bootstrap.json",
  "postgres.password",
  "logs",
  "sandbox",
  "artifacts",
  "postgres",
];

/** `npm run reset`: stops everything and deletes the data, after naming it. */
export async function reset(args: string[]) {
  const { dataDir } = pathsOf(settings);
  if (!existsSync(dataDir)) {
    console.log(`Nothing to delete: ${dataDir} does not exist.`);
    return;
  }
  const names = readdirSync(dataDir).sort();
  const isOurs = names.length === 0 || names.some((name) => KNOWN.includes(name));
  if (!isOurs || [homedir(), process.cwd(), "/"].includes(dataDir))
    throw new Error(`${dataDir} does not look like a Capstan data directory. Nothing was deleted.`);
  if (settings.CAPSTAN_ENV === "production" && !args.includes("--yes"))
    throw new Error(
      `This deletes every job, key and artifact in ${dataDir}. To confirm: npm run reset -- --yes`,
    );
  await down();
  const cluster = await clusterDir(dataDir);
  const places = cluster.startsWith(dataDir) ? [dataDir] : [dataDir, cluster];
  console.log(`Deleting ${places.join(" and ")}: ${names.join(", ") || "empty"}`);
  for (const place of places) rmSync(place, { recursive: true, force: true });
  if (settings.DATABASE_URL) console.log("The database of DATABASE_URL is not changed.");
  console.log("Done.");
}
