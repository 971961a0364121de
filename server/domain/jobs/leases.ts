import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { pool } from "@/server/db";
import type { AbortReason } from "@/server/domain/attempts";
import { systemClock } from "@/server/domain/ctx";
import { log } from "@/server/log";

/** A lease this long outlives a stalled process by little and is renewed three times before it ends. */
export const LEASE_MS = 15_000;
const RENEW_MS = 2_000;

/** Names this process on its leases. */
export const leaseOwner = `${hostname()}:${process.pid}:${randomBytes(4).toString("hex")}`;

export type Lease = {
  jobId: string;
  fence: number;
  /** Aborts with the reason when the work must stop: deadline, cancel, a lost lease, shutdown. */
  signal: AbortSignal;
  release(): void;
};

type Held = { fence: number; controller: AbortController };
const held = new Map<string, Held>();
let timer: NodeJS.Timeout | undefined;

/** Holds a claimed job: its lease is renewed until released, and `signal` tells when the work must stop. */
export function holdLease(jobId: string, fence: number, deadlineMs: number): Lease {
  const controller = new AbortController();
  const stop = (why: AbortReason) => controller.abort(why);
  const deadline = setTimeout(() => stop("deadline"), deadlineMs);
  deadline.unref();
  const mine: Held = { fence, controller };
  held.set(jobId, mine);
  timer ??= setInterval(() => void renew(), RENEW_MS).unref();
  return {
    jobId,
    fence,
    signal: controller.signal,
    release() {
      clearTimeout(deadline);
      if (held.get(jobId) === mine) held.delete(jobId);
      if (held.size === 0) {
        clearInterval(timer);
        timer = undefined;
      }
    },
  };
}

/** Renews every lease of this process in one statement; stops work whose lease is lost or that is to be canceled. */
export async function renew(now: Date = systemClock()): Promise<void> {
  if (held.size === 0) return;
  const asked = [...held];
  try {
    const { rows } = await pool.query<{ id: string; status: string }>(
      `UPDATE job SET lease_until = $3 FROM unnest($1::text[], $2::int[]) AS mine(job_id, fence)
       WHERE job.id = mine.job_id AND job.fence = mine.fence AND status IN ('running', 'canceling')
       RETURNING job.id, status`,
      [asked.map(([id]) => id), asked.map(([, each]) => each.fence), new Date(now.getTime() + LEASE_MS)],
    );
    const status = new Map(rows.map((row) => [row.id, row.status]));
    for (const [jobId, each] of asked) {
      if (held.get(jobId) !== each) continue; // ended meanwhile
      const current = status.get(jobId);
      if (current === "canceling") each.controller.abort("canceled" satisfies AbortReason);
      else if (current === undefined) each.controller.abort("lease_lost" satisfies AbortReason);
    }
  } catch (cause) {
    log.warn({ err: cause }, "leases could not be renewed");
  }
}

/** Stops every running call of this process and waits until the work has let go of its leases, or the grace is over. */
export async function releaseAllLeases(graceMs: number): Promise<void> {
  const end = Date.now() + graceMs;
  while (held.size > 0 && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 50));
  for (const each of held.values()) each.controller.abort("shutdown" satisfies AbortReason);
}
