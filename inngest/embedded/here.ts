import type { OutgoingEvent } from "@/inngest/client";
import { relaxedPool } from "@/server/db";
import { enqueue, enqueueAgain } from "./enqueue";

/**
 * Sends through this process's own connections. Survives every process, and not quite a crash of the database: what
 * must not be lost is also a row that a sweeper sends again.
 */
export function enqueueHere(events: OutgoingEvent[]): Promise<void> {
  return enqueue(relaxedPool, events);
}

/** The same for what may still be on its way here. */
export function enqueueAgainHere(events: OutgoingEvent[]): Promise<void> {
  return enqueueAgain(relaxedPool, events);
}
