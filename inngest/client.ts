import type { Json } from "@/server/platform/durable/step";
import { usesInngestServer } from "@/server/platform/settings/env";

type Data = { [key: string]: Json };

/** An event that wakes a flow. It carries ids only: rows are the truth. */
export type WakeEvent<Of extends Data = Data> = {
  name: string;
  /** The data field that identifies the subject to wake: each value has one run at a time. */
  subject: keyof Of & string;
  /** The most runs at work at once, over all workers: for each value of `per`, or in total. */
  turns: number;
  per?: keyof Of & string;
};

export const jobAdmitted: WakeEvent<{ jobId: string; projectId: string }> = {
  name: "job/admitted",
  subject: "jobId",
  turns: 30,
  per: "projectId",
};

export const deliveryDue: WakeEvent<{ deliveryId: string; endpointId: string }> = {
  name: "delivery/due",
  subject: "deliveryId",
  turns: 16, // a slow or dead endpoint takes only its own turns
  per: "endpointId",
};

export const bulkAccepted: WakeEvent<{ bulkId: string; projectId: string }> = {
  name: "bulk/accepted",
  subject: "bulkId",
  turns: 4,
  per: "projectId",
};

export const refundDue: WakeEvent<{ refundId: string }> = {
  name: "refund/due",
  subject: "refundId",
  turns: 8,
};

export const mailDue: WakeEvent<{ mailId: string }> = {
  name: "mail/due",
  subject: "mailId",
  turns: 4, // mail servers accept few connections
};

/** Every event. A new one is a constant above and a name here. */
export const wakeEvents = [jobAdmitted, deliveryDue, bulkAccepted, refundDue, mailDue];

/** An event to send. An Inngest server ignores a second one with the same `id` within 24 hours. */
export type OutgoingEvent = { id?: string; name: string; data: Data };

/**
 * Sends events to the configured engine. Resolves when the engine has them; delivery is at least once. Throws when the
 * engine cannot be reached: a wake that must not be lost is also a row that a sweeper sends again.
 */
export async function sendEvents(events: OutgoingEvent[]): Promise<void> {
  if (events.length === 0) return;
  if (usesInngestServer) await (await import("./sdk")).inngest.send(events);
  else await (await embedded()).enqueue(events);
}

/** Loaded on first use, so that a process with an Inngest server never loads the embedded engine. */
const embedded = async () => (loaded ??= await import("./embedded/enqueue"));
let loaded: typeof import("./embedded/enqueue") | undefined;
