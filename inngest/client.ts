import { eventType, type GetStepTools, Inngest, staticSchema } from "inngest";
import { usesInngestServer } from "@/server/env";
import { log } from "@/server/log";
import type { Json, Step } from "@/server/step";

/** The one Inngest client. Settings (INNGEST_*) are read by the SDK from the environment. */
export const inngest = new Inngest({ id: "capstan", logger: log, aiMetadata: false });

// Events carry ids only: rows are the truth, an event is a wake. A new one is a line here.
export const jobAdmitted = eventType("job/admitted", {
  schema: staticSchema<{ jobId: string; projectId: string }>(),
});

export const deliveryDue = eventType("delivery/due", {
  schema: staticSchema<{ deliveryId: string; endpointId: string }>(),
});

export const bulkAccepted = eventType("bulk/accepted", {
  schema: staticSchema<{ bulkId: string; projectId: string }>(),
});

export const refundDue = eventType("refund/due", {
  schema: staticSchema<{ refundId: string }>(),
});
export const mailDue = eventType("mail/due", { schema: staticSchema<{ mailId: string }>() });

/** An event to send: with an `id`, a second one within 24 hours is dropped. */
export type OutgoingEvent = { id?: string; name: string; data: { [key: string]: Json } };

/**
 * Sends events to the engine that is configured. Resolves once it has them; delivery is at least once.
 * Throws when the engine cannot be reached: what must not be lost is also a row that a sweeper sends again.
 */
export async function sendEvents(events: OutgoingEvent[]): Promise<void> {
  if (events.length === 0) return;
  if (usesInngestServer) await inngest.send(events);
  else await (await embeddedHere()).enqueueHere(events);
}

/**
 * The same for events that may have been sent before under other ids. An engine that can tell leaves out those of which
 * one of the same name and data is still on its way with it, so that what waits long does not gather runs.
 */
export async function sendEventsAgain(events: OutgoingEvent[]): Promise<void> {
  if (events.length === 0) return;
  if (usesInngestServer) await inngest.send(events);
  else await (await embeddedHere()).enqueueAgainHere(events);
}

/** Loaded on first use, so that a client of a real Inngest server never touches the embedded engine. */
const embeddedHere = async () => (embedded ??= await import("./embedded/here"));
let embedded: typeof import("./embedded/here") | undefined;

/** What an engine gives to a function, as the `Step` that durable flows ask for. */
export function durable({ step, runId }: { step: GetStepTools<typeof inngest>; runId: string }): Step {
  return {
    runId,
    async run<T extends Json | undefined>(id: string, work: () => Promise<T>): Promise<T> {
      // Sound because T is JSON: what the engine stored and read back has the shape that `work` returned.
      // (`undefined` comes back as null, which a flow that returned nothing does not look at.)
      return (await step.run(id, work)) as T;
    },
    // Not `step.sleep`, which rounds to whole seconds.
    sleep: (id, ms) => step.sleepUntil(id, new Date(Date.now() + Math.max(ms, 0))),
  };
}
