import { bulkAccepted } from "@/inngest/client";
import { flow } from "@/inngest/flow";
import * as pins from "@/server/domain/pins";

/** Runs an accepted bulk, with all items in one run. */
export default flow({
  id: "run-bulk",
  event: bulkAccepted,
  retries: 10,
  heldAs: "bulks",
  run: (ctx, { bulkId }, step) => pins.runBulk(ctx, bulkId, step),
});
