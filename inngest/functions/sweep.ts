import { inngest } from "@/inngest/client";
import { CHORES } from "@/server/chores";

/** Once a minute, for deployments whose processes do not stay up; the others do their chores themselves. */
export default inngest.createFunction(
  { id: "sweep", triggers: [{ cron: "* * * * *" }], retries: 0, concurrency: 1 },
  async () => {
    for (const { pass } of CHORES) await pass();
  },
);
