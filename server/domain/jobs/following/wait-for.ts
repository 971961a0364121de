import type { Job } from "@/server/contract/jobs";
import { TERMINAL } from "@/server/contract/jobs";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { fail } from "@/server/platform/errors/errors";
import { deadline } from "@/server/platform/time/deadline";
import { get } from "../reading/get";
import { followEvents } from "./events";
import type { Pace } from "./follow";

export type Waiting = {
  /** At most this long. */
  ms: number;
  /** Aborted when the reader goes away. */
  signal: AbortSignal | undefined;
  /** `end`: it has ended or waits for a person. `change`: it has another status than now. */
  until?: "end" | "change";
  right?: Scope;
  pace?: Pace;
  /** Gets the types of events as they come, and nothing after a quiet while. */
  heard?(types: string[], job: Job): Promise<void>;
};

const needsSomebody: readonly Job["status"][] = ["awaiting_approval", "needs_attention"];

/** Follows a job until then, or the time is up, and answers with it as it is then. An ended job is answered at once. */
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
  // It may be over because the key is: what is read last is read by who may read it now.
  const principal = ctx.whoNow ? await ctx.whoNow() : ctx.principal;
  if (!principal) fail("AuthenticationFailed", "This API key no longer works. Use another key.");
  return get({ ...ctx, principal }, jobId, right);
}
