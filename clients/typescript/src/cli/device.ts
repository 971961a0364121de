import { hostname } from "node:os";
import { type Client, createClient } from "../client";
import type { Schemas } from "../core";
import { CapstanError } from "../errors";
import { delay } from "../transport";
import type { Terminal } from "./terminal";

/** The name of this machine on the approval page, and in the person's lists of keys and sessions. */
export const machineName = () => `capstan on ${hostname().replace(/[^\x21-\x7e]/g, "")}`.slice(0, 80).trim();

/** Shows a code, and returns the session once a person has approved it in a browser. */
export async function signInDevice(terminal: Terminal, baseUrl: string): Promise<Schemas["DeviceToken"]> {
  const open = createClient({ baseUrl });
  const started = await open.post("/v1/auth/device/start", { body: { clientName: machineName() } });
  const minutes = Math.round(started.expiresIn / 60);
  terminal.note(
    `Open ${started.verificationUriComplete}\nand approve the code ${started.userCode} within ${minutes} minutes.`,
  );
  return approved(open, started);
}

/** Polls every `interval` seconds. 428 means that the decision is pending, 410 that the code was denied or has expired. */
async function approved(
  open: Client,
  { deviceCode, interval, expiresIn }: Schemas["DeviceLoginStarted"],
): Promise<Schemas["DeviceToken"]> {
  const deadline = Date.now() + expiresIn * 1000;
  for (let seconds = interval; ; ) {
    if (Date.now() + seconds * 1000 > deadline)
      throw notApproved("The code expired before it was approved. Run `capstan login` again.");
    await delay(seconds * 1000);
    try {
      return await open.post("/v1/auth/device/token", { body: { deviceCode } });
    } catch (error) {
      if (!(error instanceof CapstanError)) throw error;
      if (error.status === 410) throw notApproved(error.message);
      if (error.status !== 428 && !error.retryable) throw error;
      seconds = Math.max(interval, error.retryAfterSeconds ?? 0);
    }
  }
}

const notApproved = (message: string) =>
  new CapstanError(message, { status: 401, code: "LoginNotApproved", nextAction: "login" });
