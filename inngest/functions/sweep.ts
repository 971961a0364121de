import { inngest } from "@/inngest/client";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import * as pins from "@/server/domain/pins";

/** Once a minute, for deployments whose processes do not stay up; the others sweep every two seconds themselves. */
export default inngest.createFunction(
  { id: "sweep", triggers: [{ cron: "* * * * *" }], retries: 0, concurrency: 1 },
  async () => {
    await jobs.sweep(systemCtx("sweep"));
    await pins.sweep(systemCtx("sweep"));
  },
);
