import { inngest } from "@/inngest/client";
import { artifactStore } from "@/server/domain/artifacts";

const DAY_MS = 86_400_000;

/** Once an hour: removes what uploads that never ended left behind in the artifact store. */
export default inngest.createFunction(
  { id: "tidy-artifacts", triggers: [{ cron: "17 * * * *" }], retries: 0, concurrency: 1 },
  async () => ({ removed: await artifactStore().sweepTemporary(new Date(Date.now() - DAY_MS)) }),
);
