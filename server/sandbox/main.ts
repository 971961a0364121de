import { join } from "node:path";
import { env } from "@/server/platform/settings/env";
import { startSandbox } from "./server";

/* The sandbox as a process of its own; its submissions log is in `<data directory>/sandbox`. */
const sandbox = await startSandbox({
  port: env.SANDBOX_PORT,
  dataDir: join(env.CAPSTAN_DATA_DIR, "sandbox"),
  slowMs: env.SANDBOX_SLOW_MS,
});
process.stdout.write(`${JSON.stringify({ level: "info", msg: "sandbox ready", url: sandbox.url })}\n`);
process.send?.({ ready: true, url: sandbox.url });

const stop = () => {
  void sandbox.stop().then(() => process.exit(0));
};
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
