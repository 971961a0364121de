import { z } from "zod";
import { AttentionItem, Job, JobRef } from "@/server/contract/jobs";
import * as jobs from "@/server/domain/jobs";
import { router } from "../init";
import { does, Nothing, reads } from "../of";

const Resolved = Job.pick({ jobId: true, status: true });

/** Jobs that need an operator's attention, and the three ways to resolve them. */
export const attentionRouter = router({
  list: reads(Nothing, z.array(AttentionItem), jobs.listAttention),
  retry: does(JobRef, Resolved, (ctx, input) => jobs.retryStep(ctx, input.job_id)),
  accept: does(JobRef, Resolved, (ctx, input) => jobs.acceptAsIs(ctx, input.job_id)),
  fail: does(JobRef, Resolved, (ctx, input) => jobs.failWaiting(ctx, input.job_id)),
});
