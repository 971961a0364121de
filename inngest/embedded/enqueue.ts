import type { Pool } from "pg";
import { type OutgoingEvent, type WakeEvent, wakeEvents } from "@/inngest/client";
import { relaxedPool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { jsonb, nothing } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/** Runs one statement: a pool, or a client inside a transaction of the caller. */
type Queryable = Pick<Pool, "query">;

/** A run to wake, with the columns of `run_slot`; `payload` is the payload of its job in the queue. */
export type RunWake = {
  key: string;
  limit_key: string;
  places: number;
  task: string;
  payload: { data: OutgoingEvent["data"]; retries?: number };
};

const known = new Map(wakeEvents.map((event) => [event.name, event as WakeEvent])); // sound: `subject` and `per` are keys of the event's own data

/** The run that an event wakes, and the run's limit. */
export function toWake({ name, data }: Pick<OutgoingEvent, "name" | "data">): RunWake {
  const event = known.get(name);
  if (!event) throw new Error(`No flow is woken by "${name}"`);
  return {
    key: `${name}:${data[event.subject]}`,
    limit_key: event.per ? `${name}:${data[event.per]}` : name,
    places: event.turns,
    task: name,
    payload: { data },
  };
}

const wakeAll = statement("engine-wake", {
  params: { wakes: jsonb<Json>() },
  row: { capstan_wake: nothing },
  sql: `SELECT capstan_wake($wakes)`,
  prepared: true,
});

/**
 * Accepts events in one statement (`capstan_wake`, prisma/guards/8-run-slots.sql): durable when it resolves, started at once
 * where there is a free turn. By default an event survives the crash of any process, but a crash of the database may lose it
 * (`relaxedPool`); a sweeper then sends it again.
 */
export async function enqueue(events: OutgoingEvent[], db: Queryable = relaxedPool): Promise<void> {
  const wakes = new Map(events.map(toWake).map((wake) => [wake.key, wake]));
  if (wakes.size === 0) return;
  await wakeAll.run(db, { wakes: [...wakes.values()] });
}
