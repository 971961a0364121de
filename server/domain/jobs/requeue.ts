import type { Ctx } from "@/server/domain/ctx";
import { transition } from "./transitions/moves";

/** Nothing ran: the job goes back to the queue under the same attempt number. */
export function requeue(ctx: Ctx, jobId: string, fence: number, lastEvent?: number): Promise<boolean> {
  return transition({
    jobId,
    fence,
    ...(lastEvent === undefined ? {} : { lastEvent }),
    from: ["running"],
    to: "queued",
    now: ctx.now(),
    event: { type: "job.queued", payload: { reason: "lease_lost" } },
  });
}
