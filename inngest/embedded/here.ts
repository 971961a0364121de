import type { OutgoingEvent } from "@/inngest/client";
import { relaxedPool } from "@/server/db";
import { enqueue } from "./enqueue";

/**
 * Sends through this process's own connections. Survives every process, and not quite a crash of the database: what
 * must not be lost is also a row that a sweeper sends again.
 */
export function enqueueHere(events: OutgoingEvent[]): Promise<void> {
  return enqueue(relaxedPool, events);
}
