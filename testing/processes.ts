import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";

export type WebProcess = { url: string; child: ChildProcess; kill(): Promise<void> };

/** Starts another web process on the database of this run; `kill` ends it without a word, like a crash. */
export async function startWebProcess(): Promise<WebProcess> {
  const child = fork(resolve(import.meta.dirname, "web-process.ts"), {
    execPath: process.execPath,
    execArgv: ["--import", "tsx"],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const gone = once(child, "exit");
  const [message] = (await Promise.race([
    once(child, "message"),
    gone.then(() => {
      throw new Error("the web process ended before it was ready");
    }),
  ])) as [{ url: string }]; // what web-process.ts sends
  return {
    url: message.url,
    child,
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}
