import { inngest } from "@/inngest/client";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";

/** Four times an hour: removes content whose retention has ended. */
export default inngest.createFunction(
  { id: "prune", triggers: [{ cron: "*/15 * * * *" }], retries: 0, concurrency: 1 },
  async () => jobs.prune(systemCtx("prune")),
);
