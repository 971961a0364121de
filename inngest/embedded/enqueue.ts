import type { Pool } from "pg";
import type { OutgoingEvent } from "@/inngest/client";
import { ulid } from "@/server/ids";

/** What runs one statement: a pool, or a client inside a transaction of the caller. */
export type Queryable = Pick<Pool, "query">;

/** An event as functions see it. */
export type StoredEvent = { id: string; name: string; data: Record<string, unknown>; ts: number };

/** An event on its way: `occurrence` is new for every accepted event, `once` makes the id count for 24 hours. */
export type Envelope = { once?: string; occurrence: string; event: StoredEvent };

/** Wraps an event for the queue. */
export function toEnvelope(event: Omit<OutgoingEvent, "data"> & { data: StoredEvent["data"] }): Envelope {
  const occurrence = ulid();
  return {
    ...(event.id ? { once: `event:${event.id}` } : {}),
    occurrence,
    event: { id: event.id ?? occurrence, name: event.name, data: event.data, ts: Date.now() },
  };
}

/** Accepts events for the embedded engine in one statement: durable when it resolves, started at once by a worker. */
export async function enqueue(db: Queryable, events: OutgoingEvent[]): Promise<void> {
  if (events.length > 0) await accept(db, events);
}

/** The same, without the events of which one of the same name and data is still on its way: nothing has come of it yet. */
export async function enqueueAgain(db: Queryable, events: OutgoingEvent[]): Promise<void> {
  if (events.length === 0) return;
  await db.query({
    name: "engine_send_again",
    text: "select engine_send_again($1)",
    values: [JSON.stringify(events.map(toEnvelope))],
  });
}

/** The same as `enqueue`, telling the ids of the events. */
export async function accept(db: Queryable, events: OutgoingEvent[]): Promise<string[]> {
  const envelopes = events.map(toEnvelope);
  await db.query({
    name: "engine_send",
    text: "select engine_send($1)",
    values: [JSON.stringify(envelopes)],
  });
  return envelopes.map((envelope) => envelope.event.id);
}
