import { z } from "zod";
import { Approvals } from "@/server/contract/approvals";
import { ProjectRef } from "@/server/contract/jobs";
import * as jobs from "@/server/domain/jobs";
import * as requests from "@/server/domain/requests";
import { router } from "../init";
import { reads } from "../of";

/** When an item expires; items that never expire come last. */
const dueMs = (item: Approvals["items"][number]) => {
  const due = item.kind === "job" ? item.approval.deadlineAt : item.quote.expiresAt;
  return due === null ? Number.POSITIVE_INFINITY : Date.parse(due);
};

/** Items of a project that need a person's decision: jobs to approve and commissions to pay. */
export const approvalsRouter = router({
  list: reads(ProjectRef, Approvals, async (ctx, input) => {
    const [waiting, payable] = await Promise.all([
      jobs.listWaiting(ctx, input.project_id),
      requests.listPayable(ctx, input.project_id),
    ]);
    return {
      items: [...waiting.items, ...payable.items].sort((one, other) => dueMs(one) - dueMs(other)),
      count: waiting.count + payable.count,
      now: ctx.now().toISOString(),
    };
  }),
  count: reads(ProjectRef, z.int(), async (ctx, input) => {
    const [waiting, payable] = await Promise.all([
      jobs.countWaiting(ctx, input.project_id),
      requests.countPayable(ctx, input.project_id),
    ]);
    return waiting + payable;
  }),
});
