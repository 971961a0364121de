import { access } from "@/server/domain/access";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { Fault } from "@/server/platform/errors/errors";
import type { JobRow } from "../rows";
import { hub, type Page, type ReadPages } from "./hub";

/** How long nothing may come before the reader hears that we are there, and how often its rights are looked at. */
export type Pace = { quietMs: number; checkMs: number };
const PACE: Pace = { quietMs: 15_000, checkMs: 15_000 };

/**
 * Where a stream resumes that is asked to go on after `asked`. Nothing has an id beyond the last, so whoever asks for one
 * has mixed up two streams: a running one goes on after its last, and one that has ended sends its last again, which
 * brings the reader the end.
 */
export function resumeAfter(asked: number, { last, hasEnded }: { last: number; hasEnded: boolean }): number {
  if (asked <= last) return asked;
  return hasEnded ? Math.max(0, last - 1) : last;
}

type Followed = Pick<JobRow, "id" | "project_id" | "environment" | "organization_id" | "principal_id">;

/**
 * What is appended to one job after a place, as it is written: pages in order, an empty one for every quiet while. Ends
 * after the last page, and without one when the reader goes away and when it may no longer read.
 */
export async function* followPages<Item extends { id: number }>(
  ctx: Ctx,
  job: Followed,
  source: { read: ReadPages<Item>; topics: string[]; after: number; right?: Scope },
  pace: Pace = PACE,
): AsyncGenerator<Page<Item>, void> {
  const signal = ctx.signal?.();
  if (signal?.aborted) return;
  const following = hub().follow(source.read, job.id, source.topics);
  signal?.addEventListener("abort", following.leave, { once: true });
  let { after } = source;
  let checkedAt = performance.now();
  try {
    for (;;) {
      const turn = await following.next(after, pace.quietMs);
      if (turn.state === "left") return;
      if (turn.state === "check" || performance.now() - checkedAt >= pace.checkMs) {
        if (!(await mayStillRead(ctx, job, source.right ?? "jobs:read"))) return;
        checkedAt = performance.now();
      }
      if (turn.state === "quiet") yield { items: [], hasEnded: false };
      if (turn.state !== "page") continue;
      const { items, hasEnded } = turn.page;
      after = items.at(-1)?.id ?? after;
      if (items.length > 0 || hasEnded) yield turn.page;
      if (hasEnded) return;
    }
  } finally {
    signal?.removeEventListener("abort", following.leave);
    following.leave();
  }
}

/** Does the caller of this stream still exist, and may it still see the job? */
async function mayStillRead(ctx: Ctx, job: Followed, right: Scope): Promise<boolean> {
  if (!ctx.whoNow) return true;
  const principal = await ctx.whoNow();
  if (!principal) return false;
  try {
    const scope = access.authorize({ ...ctx, principal }, right, "made rows");
    return (
      (scope.organizationIds === null || scope.organizationIds.includes(job.organization_id)) &&
      (scope.projectId === null || scope.projectId === job.project_id) &&
      (scope.environment === null || scope.environment === job.environment) &&
      (scope.principalId === null || scope.principalId === job.principal_id)
    );
  } catch (cause) {
    if (cause instanceof Fault) return false;
    throw cause;
  }
}
