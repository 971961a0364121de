import { durable, inngest, jobAdmitted } from "@/inngest/client";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";

/** Runs an admitted job. No function idempotency and no cancelOn: the job's row decides. */
export default inngest.createFunction(
  {
    id: "run-job",
    triggers: [jobAdmitted],
    retries: 10,
    concurrency: { key: "event.data.projectId", limit: 30 },
  },
  ({ event, ...given }) => jobs.run(systemCtx("run-job"), event.data.jobId, durable(given)),
);
