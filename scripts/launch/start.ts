import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { env as settings } from "@/server/platform/settings/env";
import { Refusal } from "@/server/platform/settings/refusal";
import { readSecrets } from "@/server/platform/settings/secrets";
import { processEnv } from "./process-env";
import { programArgs } from "./process-flags";

const PARTS = ["web", "worker", "sandbox"];

/**
 * `npm run start -- web`: one process in the foreground, for deployments that supervise processes themselves. It forwards
 * signals and ends with the exit code of the process. Throws if the arguments or the settings are wrong.
 */
export function start([name, ...more]: string[]): void {
  if (!name || !PARTS.includes(name) || more.length > 0)
    throw new Error(
      "Usage: npm run start -- web, worker, sandbox, migrate apply, doctor, backup, restore, or admin <noun> <verb>",
    );
  const child = spawn(process.execPath, programArgs(name), {
    env: envOf(name),
    // The child gets its own process group: Ctrl-C reaches only this process, which forwards it once.
    detached: process.platform !== "win32",
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
    process.on(signal, () => child.kill(signal === "SIGHUP" ? "SIGTERM" : signal));
  child.once("error", (error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
  child.once("exit", (code) => {
    process.exitCode = code ?? 1;
  });
}

function envOf(name: string): NodeJS.ProcessEnv {
  const databaseUrl = settings.DATABASE_URL;
  if (!databaseUrl && name !== "sandbox")
    throw new Refusal(
      "DATABASE_URL is not set. A process started on its own needs your database. To start everything with an embedded database, use npm run up.",
    );
  const dataDir = resolve(settings.CAPSTAN_DATA_DIR);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  return processEnv({
    settings,
    secrets: readSecrets(settings),
    dataDir,
    port: settings.PORT,
    publicUrl: settings.PUBLIC_URL ?? `http://localhost:${settings.PORT}`,
    databaseUrl: databaseUrl ?? "",
    dev: false,
  });
}
