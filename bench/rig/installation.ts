import { spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { z } from "zod";
import { lastLines } from "../../scripts/launch/child";
import { findRuntime } from "../../scripts/launch/runtime";
import { freePort } from "../../scripts/launch/system";
import { type Cpu, cpuBelow, SUBJECT_CORE, track } from "./processes";
import type { World } from "./world";

/** A version of the product with its own PostgreSQL, web and worker, as its own launcher starts them. */
export type Installation = {
  url: string;
  apiKey: string;
  projectId: string;
  /** CPU time of all its processes so far, in microseconds. */
  cpu(): Cpu;
  /** Runs ANALYZE, so that the planner knows how large the tables are. */
  analyze(): Promise<void>;
  stop(): Promise<void>;
};

const Access = z.object({ apiKey: z.string(), projectId: z.string() });

/** Starts the build of a checkout on the subject's core, with a data directory of its own; it calls this sandbox. */
export async function startInstallation(
  { directory, log }: World,
  { folder, name, sandboxUrl }: { folder: string; name: string; sandboxUrl: string },
): Promise<Installation> {
  const dataDir = join(directory, name);
  const port = await freePort();
  const output = openSync(log(name), "a");
  const child = spawn(
    "taskset",
    ["-c", String(SUBJECT_CORE), process.execPath, "scripts/up.mjs", "--attached", "--without-main-job"],
    {
      cwd: folder,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        NODE_ENV: "production",
        CAPSTAN_ENV: "development",
        CAPSTAN_DATA_DIR: dataDir,
        DATABASE_URL: "", // not the one of the checkout's .env
        SANDBOX_URL: sandboxUrl,
        HOST: "127.0.0.1",
        PORT: String(port),
        LOG_LEVEL: "warn",
        RATE_LIMIT_KEY_PER_MINUTE: "1000000000",
      },
      stdio: ["ignore", output, output, "ipc"],
    },
  );
  closeSync(output);
  const running = track(name, child);
  await new Promise<void>((resolve, reject) => {
    child.on("message", (message: { ready?: true }) => message.ready && resolve());
    child.once("exit", () =>
      reject(new Error(`The build in ${folder} did not start. The end of its log:\n${lastLines(log(name))}`)),
    );
  });
  const databaseUrl = findRuntime(dataDir)?.databaseUrl;
  return {
    url: `http://127.0.0.1:${port}`,
    ...Access.parse(JSON.parse(readFileSync(join(dataDir, "bootstrap.json"), "utf8"))),
    cpu: () => cpuBelow(running.pid),
    async analyze() {
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      await client.query("ANALYZE");
      await client.end();
    },
    stop: () => running.stop(),
  };
}
