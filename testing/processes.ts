import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { resolve } from "node:path";
import type { FailpointName } from "@/server/failpoint";

/** Runs a job in a process of its own that is killed at the named place; by which signal it ended. */
export const runJobKilledAt = (jobId: string, failpoint: FailpointName, runId: string = randomUUID()) =>
  runKilledAt("job-process.ts", [jobId, runId], failpoint);

/** The same of a pinned request. */
export const runPinKilledAt = (request: object, failpoint: FailpointName) =>
  runKilledAt("pin-process.ts", JSON.stringify(request), failpoint);

/** The same of a request for a comparison. */
export const createComparisonKilledAt = (request: object, failpoint: FailpointName) =>
  runKilledAt("comparison-process.ts", JSON.stringify(request), failpoint);

/** The same of a mail, by the mail server of these settings. */
export const sendMailKilledAt = (
  mailId: string,
  failpoint: FailpointName,
  settings: { SMTP_URL: string; MAIL_FROM: string },
) => runKilledAt("mail-process.ts", mailId, failpoint, settings);

/** The same of a refund that is asked of a payment provider set up like this. */
export const askForRefundKilledAt = (
  refundId: string,
  failpoint: FailpointName,
  settings: Record<string, string>,
) => runKilledAt("refund-process.ts", refundId, failpoint, settings);

/** The same of an upload into the artifact store of these settings; with `diesHalfWay` amid its bytes. */
export const uploadKilledAt = (
  request: { projectId: string; seed: string; megabytes: number; diesHalfWay?: true },
  failpoint: FailpointName,
  settings: Record<string, string>,
) => runKilledAt("upload-process.ts", JSON.stringify(request), failpoint, settings);

async function runKilledAt(
  program: string,
  given: string | string[],
  failpoint: FailpointName,
  settings: Record<string, string> = {},
): Promise<string | null> {
  const child = fork(resolve(import.meta.dirname, program), [given].flat(), {
    execPath: process.execPath,
    execArgv: ["--import", "tsx"],
    env: { ...process.env, ...settings, CAPSTAN_FAILPOINTS: failpoint },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const [, signal] = (await once(child, "exit")) as [number | null, string | null]; // what the event gives
  return signal;
}

/** Starts a process that works on a bulk under this fence; by which signal it ended, if by any. */
export function startBulkProcess(
  bulkId: string,
  fence: number,
  failpoints = "",
): { ended: Promise<string | null> } {
  const child = fork(resolve(import.meta.dirname, "bulk-process.ts"), [bulkId, String(fence)], {
    execPath: process.execPath,
    execArgv: ["--import", "tsx"],
    env: { ...process.env, CAPSTAN_FAILPOINTS: failpoints },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  return { ended: once(child, "exit").then(([, signal]) => signal as string | null) };
}

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
