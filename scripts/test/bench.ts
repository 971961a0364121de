import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { USUAL_GOALS } from "../../bench/options";
import type { Tried } from "../../bench/run";
import { lastLines } from "../launch/child";
import { type Count, cleanEnv } from "./process";

const FOLDER = "test-results";
const LOG = `${FOLDER}/bench.log`;

/**
 * Runs each goal of the bench with rounds of a second, by the Node that runs this. This shows that a goal can still be measured,
 * not how fast it is.
 */
export async function runBenchTrial(): Promise<Count> {
  mkdirSync(FOLDER, { recursive: true });
  const log = openSync(LOG, "w");
  const child = spawn(process.execPath, ["--import", "tsx", "bench/run.ts", "--trial", "--as-built"], {
    env: cleanEnv(),
    stdio: ["ignore", log, log, "ipc"],
  });
  closeSync(log);
  const tried: Tried[] = [];
  child.on("message", (one) => tried.push(one as Tried)); // bench/run.ts sends this type
  await once(child, "close");
  // The workflow of CI installs the tools, so it requires them.
  const count = countTried(tried, process.env.BENCH_TOOLS === "required");
  if (count.failed > 0) console.log(lastLines(LOG, 40));
  return count;
}

/**
 * Counts a goal that lacks a tool as not run and names it; where the tools are required, that goal has failed. A goal that was
 * not reached has failed too.
 */
export function countTried(tried: Tried[], areRequired: boolean): Count {
  const untold = USUAL_GOALS.filter((name) => !tried.some(({ goal }) => goal === name));
  const lacking = tried.flatMap(({ goal, missing }) =>
    missing.map((each) => `bench: ${goal}: there is no ${each}`),
  );
  const failures = [
    ...untold.map((goal) => `bench: ${goal}: was not reached (log: ${LOG})`),
    ...tried.flatMap(({ goal, faults }) => faults.map((fault) => `bench: ${goal}: ${fault}`)),
    ...(areRequired ? lacking : []),
  ];
  const hasFailed = ({ faults, missing }: Tried) => faults.length > 0 || (areRequired && missing.length > 0);
  const failed = untold.length + tried.filter(hasFailed).length;
  const passed = tried.filter(({ faults, missing }) => faults.length + missing.length === 0).length;
  return { passed, failed, failures, notRun: areRequired ? [] : lacking };
}
