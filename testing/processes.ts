import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import type { FailpointName } from "@/server/platform/settings/failpoint";
import { PROGRAMS } from "./setup/programs";

const startProgram = (
  program: string,
  args: string[],
  env: NodeJS.ProcessEnv = process.env,
  execArgv: string[] = [],
): ChildProcess =>
  fork(join(PROGRAMS, `${program}.mjs`), args, {
    execArgv,
    env,
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });

/** Runs a job in a process that is killed at this failpoint; returns the signal that ended it. */
export const runJobKilledAt = (jobId: string, failpoint: FailpointName, runId: string = randomUUID()) =>
  runKilledAt("job-process", [jobId, runId], failpoint);

/** Runs a pinned request in a process that is killed at this failpoint; returns the signal that ended it. */
export const runPinKilledAt = (request: object, failpoint: FailpointName) =>
  runKilledAt("pin-process", JSON.stringify(request), failpoint);

/** Creates a comparison in a process that is killed at this failpoint; returns the signal that ended it. */
export const createComparisonKilledAt = (request: object, failpoint: FailpointName) =>
  runKilledAt("comparison-process", JSON.stringify(request), failpoint);

/**
 * Sends a mail, through the mail server of these settings, in a process that is killed at this failpoint; returns the signal that
 * ended it.
 */
export const sendMailKilledAt = (
  mailId: string,
  failpoint: FailpointName,
  settings: { SMTP_URL: string; MAIL_FROM: string },
) => runKilledAt("mail-process", mailId, failpoint, settings);

/**
 * Requests a refund, from the payment provider of these settings, in a process that is killed at this failpoint; returns the signal
 * that ended it.
 */
export const askForRefundKilledAt = (
  refundId: string,
  failpoint: FailpointName,
  settings: Record<string, string>,
) => runKilledAt("refund-process", refundId, failpoint, settings);

/**
 * Uploads an adapter, into the artifact store of these settings, in a process that is killed at this failpoint, or after half of
 * the bytes (`diesHalfWay`); returns the signal that ended it.
 */
export const uploadKilledAt = (
  request: { projectId: string; seed: string; megabytes: number; diesHalfWay?: true },
  failpoint: FailpointName,
  settings: Record<string, string>,
) => runKilledAt("upload-process", JSON.stringify(request), failpoint, settings);

async function runKilledAt(
  program: string,
  given: string | string[],
  failpoint: FailpointName,
  settings: Record<string, string> = {},
): Promise<string | null> {
  const env = { ...process.env, ...settings, CAPSTAN_FAILPOINTS: failpoint };
  const child = startProgram(program, [given].flat(), env);
  const [, signal] = (await once(child, "exit")) as [number | null, string | null]; // the arguments of the event
  return signal;
}

/** Starts a process that works on a bulk under this fence; returns the signal that ended it, if any. */
export function startBulkProcess(
  bulkId: string,
  fence: number,
  failpoints = "",
): { ended: Promise<string | null> } {
  const env = { ...process.env, CAPSTAN_FAILPOINTS: failpoints };
  const child = startProgram("bulk-process", [bulkId, String(fence)], env);
  return { ended: once(child, "exit").then(([, signal]) => signal as string | null) };
}

export type WebProcess = { url: string; child: ChildProcess; kill(): Promise<void> };

/** Node's arguments for a process whose clock is skewed by this much. */
const skewed = (ms: number) => {
  const program = `const True = Date; globalThis.Date = class extends True {
    constructor(...given) { if (given.length === 0) super(True.now() + ${ms}); else super(...given); }
    static now() { return True.now() + ${ms}; }
  };`;
  return ["--import", `data:text/javascript,${encodeURIComponent(program)}`];
};

/** Starts another web process on the database of this run, with its clock skewed by `skewMs`. `kill` ends it like a crash. */
export async function startWebProcess({ skewMs = 0 } = {}): Promise<WebProcess> {
  const child = startProgram("web-process", [], process.env, skewMs === 0 ? [] : skewed(skewMs));
  const gone = once(child, "exit");
  const [message] = (await Promise.race([
    once(child, "message"),
    gone.then(() => {
      throw new Error("the web process ended before it was ready");
    }),
  ])) as [{ url: string }]; // the message that web-process.ts sends
  return {
    url: message.url,
    child,
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}
