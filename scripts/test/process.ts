import { spawn } from "node:child_process";
import { SETTINGS } from "@/server/platform/settings/env";

/** Totals of a part of the tests, and the names of what to look at, which are repeated at the very end. */
export type Count = {
  files?: number;
  passed: number;
  failed: number;
  failures?: string[];
  flaky?: string[];
  /** Goals that could not run, each with what it lacks. */
  notRun?: string[];
};

export const BIN = "node_modules/.bin";

/** Environment without the product's settings: with those of this machine, the tests would depend on where they run. */
export function cleanEnv(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const rest = Object.entries(process.env).filter(([name]) => !SETTINGS.includes(name));
  return { ...Object.fromEntries(rest), NODE_ENV: "test", ...extra };
}

/** Runs a tool with its output on this terminal; resolves with its exit code. */
export function runTool(file: string, args: string[], env = cleanEnv()): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      env,
      stdio: ["ignore", "inherit", "inherit"],
      shell: process.platform === "win32",
    });
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}
