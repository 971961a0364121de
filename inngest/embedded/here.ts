import type { OutgoingEvent } from "@/inngest/client";
import { pool } from "@/server/db";
import { enqueue } from "./enqueue";

/** Sends through this process's own database pool. */
export function enqueueHere(events: OutgoingEvent[]): Promise<void> {
  return enqueue(pool, events);
}
