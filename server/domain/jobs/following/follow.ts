import { access } from "@/server/domain/access";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { Fault } from "@/server/platform/errors/errors";
import type { JobRow } from "../rows";
import { hub, type Page, type ReadPages } from "./hub";

/**
 * How long a stream may be quiet before the reader gets an empty page, and how often the reader's rights are
 * checked.
 */
export type Pace = { quietMs: number; checkMs: number };
const PACE: Pace = { quietMs: 15_000, checkMs: 15_000 };

/**
 * The id after which a stream resumes when a reader asks for `asked`. An id beyond the last belongs to
 * another stream: a running stream then continues after its last id, and an ended one sends its last item
 * again, so that the reader sees the end.
 */
export function resumeAfter(asked: number, { last, hasEnded }: { last: number; hasEnded: boolean }): number {
  if (asked <= last) return asked;
  return hasEnded ? Math.max(0, last - 1) : last;
}

type Followed = Pick<JobRow, "id" | "project_id" | "environment" | "organization_id" | "principal_id">;

/**
 * Follows the items of one job as they are written: pages in order, and an empty one for every quiet
 * interval. Ends after the last page, or without one when the reader leaves or may no longer read.
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

/** False if the caller of this stream no longer exists or may no longer see the job. */
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
