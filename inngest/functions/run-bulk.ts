import { bulkAccepted, durable, inngest } from "@/inngest/client";
import { systemCtx } from "@/server/domain/ctx";
import * as pins from "@/server/domain/pins";

/** Runs an accepted bulk, all of its items in one run; the rows decide. A project's bulks take a worker's places only so far. */
export default inngest.createFunction(
  {
    id: "run-bulk",
    triggers: [bulkAccepted],
    retries: 10,
    concurrency: { key: "event.data.projectId", limit: 4 },
  },
  ({ event, ...given }) => pins.runBulk(systemCtx("run-bulk"), event.data.bulkId, durable(given)),
);
