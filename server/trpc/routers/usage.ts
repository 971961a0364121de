import { z } from "zod";
import { JobRef, JobStatus, ProjectRef } from "@/server/contract/jobs";
import { ExecutionCost, UsageDays, UsageDaysQuery } from "@/server/contract/usage";
import * as usage from "@/server/domain/usage";
import { router } from "../init";
import { reads } from "../of";

export const usageRouter = router({
  /** True if a project has run outside the sandbox lately, which sets the panel's mode until the reader chooses one. */
  hasLive: reads(ProjectRef, z.boolean(), (ctx, input) => usage.hasLive(ctx, input.project_id)),
  days: reads(UsageDaysQuery, UsageDays, (ctx, input) => usage.days(ctx, input.project_id, input.days)),
  /** The job's status is part of the cache key. */
  cost: reads(JobRef.extend({ status: JobStatus }), ExecutionCost.nullable(), (ctx, input) =>
    usage.cost(ctx, input.job_id),
  ),
});
