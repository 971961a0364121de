import type { Job } from "@/server/contract/jobs";
import { TERMINAL } from "@/server/contract/jobs";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { fail } from "@/server/platform/errors/errors";
import { deadline } from "@/server/platform/time/deadline";
import { get } from "../reading/get";
import { followEvents } from "./events";
import type { Pace } from "./follow";

type Waiting = {
  /** The longest wait, in milliseconds. */
  ms: number;
  /** Aborted when the reader leaves. */
  signal: AbortSignal | undefined;
  /** `end`: the job has ended or needs a person. `change`: the status differs from the first one. */
  until?: "end" | "change";
  right?: Scope;
  pace?: Pace;
  /** Gets the types of new events as they arrive, or an empty list after a quiet interval. */
  heard?(types: string[], job: Job): Promise<void>;
};

const needsSomebody: readonly Job["status"][] = ["awaiting_approval", "needs_attention"];

/**
 * Follows a job until the condition holds or the time is up, and returns its latest state. An ended job is
 * returned at once. Throws AuthenticationFailed if the caller's key stopped working before the time was up.
 */
export async function waitFor(
  ctx: Ctx,
  jobId: string,
  { ms, signal, until = "end", right = "jobs:read", pace, heard }: Waiting,
): Promise<Job> {
  let job = await get(ctx, jobId, right);
  const first = job.status;
  const hasEnded = ({ status }: Job) =>
    TERMINAL.includes(status) || (until === "end" ? needsSomebody.includes(status) : status !== first);
  if (ms === 0 || hasEnded(job)) return job;
  const either = deadline(ms, signal);
  const followed = await followEvents({ ...ctx, signal: () => either }, jobId, {}, { pace, right });
  for await (const { items } of followed) {
    await heard?.(
      items.map(({ type }) => type),
      job,
    );
    if (items.length === 0) continue; // nothing has happened, so nothing is read
    job = await get(ctx, jobId, right);
    if (hasEnded(job)) return job;
  }
  // The stream may have ended because the key no longer works, so the last read checks the caller again.
  const principal = ctx.whoNow ? await ctx.whoNow() : ctx.principal;
  if (!principal) fail("AuthenticationFailed", "This API key no longer works. Use another key.");
  return get({ ...ctx, principal }, jobId, right);
}
