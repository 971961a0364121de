import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { ALL_GOALS } from "../../bench/options";
import type { Tried } from "../../bench/run";
import { lastLines } from "../launch/child";
import { type Count, cleanEnv } from "./process";

const FOLDER = "test-results";
const LOG = `${FOLDER}/bench.log`;

/** Each goal of the bench with rounds of a second, by the Node that runs this: that it can still be measured, not how fast it is. */
export async function runBenchTrial(): Promise<Count> {
  mkdirSync(FOLDER, { recursive: true });
  const log = openSync(LOG, "w");
  const child = spawn(process.execPath, ["--import", "tsx", "bench/run.ts", "--trial", "--as-built"], {
    env: cleanEnv(),
    stdio: ["ignore", log, log, "ipc"],
  });
  closeSync(log);
  const tried: Tried[] = [];
  child.on("message", (one) => tried.push(one as Tried)); // what bench/run.ts sends
  await once(child, "close");
  // The workflow requires them, since it installs them.
  const count = countOf(tried, process.env.BENCH_TOOLS === "required");
  if (count.failed > 0) console.log(lastLines(LOG, 40));
  return count;
}

/** A goal that lacks a tool has neither passed nor failed, and is named; where the tools are required, it has failed. */
export function countOf(tried: Tried[], areRequired: boolean): Count {
  const untold = ALL_GOALS.filter((name) => !tried.some(({ goal }) => goal === name));
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
