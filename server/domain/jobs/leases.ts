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

type Held = { jobId: string; fence: number; controller: AbortController };
const held = new Set<Held>();
let timer: NodeJS.Timeout | undefined;

/** Holds a claimed job: its lease is renewed until released, and `signal` tells when the work must stop. */
export function holdLease(jobId: string, fence: number, deadlineMs: number): Lease {
  const controller = new AbortController();
  const stop = (why: AbortReason) => controller.abort(why);
  const deadline = setTimeout(() => stop("deadline"), deadlineMs);
  deadline.unref();
  const mine: Held = { jobId, fence, controller };
  held.add(mine);
  timer ??= setInterval(() => void renew(), RENEW_MS).unref();
  return {
    jobId,
    fence,
    signal: controller.signal,
    release() {
      clearTimeout(deadline);
      held.delete(mine);
      if (held.size === 0) {
        clearInterval(timer);
        timer = undefined;
      }
    },
  };
}

/** Does this process work on this job under this fence right now? */
export function isHeldHere(jobId: string, fence: number): boolean {
  for (const each of held) if (each.jobId === jobId && each.fence === fence) return true;
  return false;
}

/** Renews every lease of this process in one statement; stops work whose lease is lost or that is to be canceled. */
export async function renew(now: Date = systemClock()): Promise<void> {
  if (held.size === 0) return;
  const asked = [...held];
  try {
    const { rows } = await pool.query<{ id: string; status: string }>(
      // Locked in the order of ids, as every other statement of many jobs does. A lease that covers a wait stays longer.
      `WITH mine AS MATERIALIZED (
         SELECT job.id FROM job JOIN unnest($1::text[], $2::int[]) AS asked(job_id, fence)
           ON job.id = asked.job_id AND job.fence = asked.fence
         WHERE status IN ('running', 'canceling') ORDER BY job.id FOR NO KEY UPDATE OF job
       )
       UPDATE job SET lease_until = greatest(lease_until, $3) FROM mine WHERE job.id = mine.id
       RETURNING job.id, status`,
      [asked.map(({ jobId }) => jobId), asked.map(({ fence }) => fence), new Date(now.getTime() + LEASE_MS)],
    );
    const status = new Map(rows.map((row) => [row.id, row.status]));
    for (const each of asked) {
      if (!held.has(each)) continue; // ended meanwhile
      const current = status.get(each.jobId);
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
  for (const each of held) each.controller.abort("shutdown" satisfies AbortReason);
}
