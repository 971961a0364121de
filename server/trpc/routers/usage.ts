import { z } from "zod";
import { JobRef, JobStatus, ProjectRef } from "@/server/contract/jobs";
import { ExecutionCost, UsageDays, UsageDaysQuery } from "@/server/contract/usage";
import * as usage from "@/server/domain/usage";
import { human, router } from "../init";

export const usageRouter = router({
  /** Whether a project has run outside the sandbox lately: the mode that the panel shows until the reader chooses. */
  hasLive: human
    .input(ProjectRef)
    .output(z.boolean())
    .query(({ ctx, input }) => usage.hasLive(ctx, input.project_id)),
  days: human
    .input(UsageDaysQuery)
    .output(UsageDays)
    .query(({ ctx, input }) => usage.days(ctx, input.project_id, input.days)),
  /** The job's status is part of the cache key. */
  cost: human
    .input(JobRef.extend({ status: JobStatus }))
    .output(ExecutionCost.nullable())
    .query(({ ctx, input }) => usage.cost(ctx, input.job_id)),
});
