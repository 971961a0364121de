import { z } from "zod";
import { AttentionItem, Job, JobRef } from "@/server/contract/jobs";
import * as jobs from "@/server/domain/jobs";
import { human, router } from "../init";

/** Jobs that need an operator's attention, and the three ways to resolve them. */
export const attentionRouter = router({
  list: human.output(z.array(AttentionItem)).query(({ ctx }) => jobs.listAttention(ctx)),
  retry: human
    .input(JobRef)
    .output(Job.pick({ jobId: true, status: true }))
    .mutation(({ ctx, input }) => jobs.retryStep(ctx, input.job_id)),
  accept: human
    .input(JobRef)
    .output(Job.pick({ jobId: true, status: true }))
    .mutation(({ ctx, input }) => jobs.acceptAsIs(ctx, input.job_id)),
  fail: human
    .input(JobRef)
    .output(Job.pick({ jobId: true, status: true }))
    .mutation(({ ctx, input }) => jobs.failWaiting(ctx, input.job_id)),
});
