import { spawn } from "node:child_process";
import { join } from "node:path";
import { lastLines } from "../launch/child";
import { findRuntime } from "../launch/runtime";
import { endProcess } from "../launch/system";
import { cleanEnv } from "./process";

/**
 * Starts the product as `npm run up` does, on free ports, with its own data directory and these settings on top. Throws with the
 * last lines of its logs when it does not start.
 */
export async function startProduct(dataDir: string, settings: Record<string, string> = {}) {
  const child = spawn(process.execPath, ["scripts/up.mjs", "--attached"], {
    env: cleanEnv({
      CAPSTAN_DATA_DIR: dataDir,
      PORT: "0",
      SANDBOX_SLOW_MS: "20000",
      // The webhook receivers of the tests are on this machine.
      ALLOW_PRIVATE_ADDRESSES: "1",
      // The tests ask more within a minute than people do, all from one address.
      RATE_LIMIT_KEY_PER_MINUTE: "100000",
      RATE_LIMIT_ANONYMOUS_PER_MINUTE: "100000",
      LOG_LEVEL: "warn",
      ...settings,
    }),
    stdio: ["ignore", "inherit", "inherit", "ipc"],
    detached: process.platform !== "win32",
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.on("message", (message: { ready?: true }) => message.ready && resolve());
    exited.then(() => {
      const logs = ["web", "worker"]
        .map((name) => lastLines(join(dataDir, "logs", `${name}.log`)))
        .join("\n");
      reject(new Error(`The product did not start.\n${logs}`));
    });
  });
  const runtime = findRuntime(dataDir);
  if (!runtime) throw new Error("runtime.json is missing.");
  return {
    baseUrl: runtime.baseUrl,
    stop: async () => {
      if (child.pid) await endProcess(child.pid, 90_000);
      await exited;
    },
  };
}
