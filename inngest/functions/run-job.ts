import { jobAdmitted } from "@/inngest/client";
import { flow } from "@/inngest/flow";
import * as jobs from "@/server/domain/jobs";

/** Runs an admitted job. */
export default flow({
  id: "run-job",
  event: jobAdmitted,
  retries: 10,
  heldAs: "jobs",
  run: (ctx, { jobId }, step) => jobs.run(ctx, jobId, step),
});
