import { inngest } from "@/inngest/client";
import { systemCtx } from "@/server/domain/ctx";
import * as usage from "@/server/domain/usage";

/** Every hour: counts the usage of days that are over, and again where something was still to come. */
export default inngest.createFunction(
  { id: "roll-up-usage", triggers: [{ cron: "20 * * * *" }], retries: 0, concurrency: 1 },
  async () => usage.rollUp(systemCtx("roll-up-usage")),
);
