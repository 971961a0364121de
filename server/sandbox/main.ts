import { join } from "node:path";
import { startSandbox } from "./server";

/*
 * The sandbox as a process of its own.
 * SANDBOX_PORT (default 3003), CAPSTAN_DATA_DIR (default .data), SANDBOX_SLOW_MS (default 20000).
 */
const sandbox = await startSandbox({
  port: Number(process.env.SANDBOX_PORT ?? 3003),
  dataDir: join(process.env.CAPSTAN_DATA_DIR || ".data", "sandbox"),
  slowMs: Number(process.env.SANDBOX_SLOW_MS || 20_000),
});
process.stdout.write(`${JSON.stringify({ level: "info", msg: "sandbox ready", url: sandbox.url })}\n`);
process.send?.({ ready: true, url: sandbox.url });

const stop = () => {
  void sandbox.stop().then(() => process.exit(0));
};
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
