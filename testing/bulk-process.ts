import { systemCtx } from "@/server/domain/ctx";
import { runStep } from "@/server/domain/pins/bulk/run";

/* A process that works on one bulk until the bulk has ended, beside others; it may be killed on the way. */
const [, , bulkId = "", fence = "0"] = process.argv;
const ctx = systemCtx("bulk-process");
for (;;) {
  const next = await runStep(ctx, { id: bulkId, fence: Number(fence) });
  if (next.state === "ended") break;
  await new Promise((resolve) => setTimeout(resolve, 50));
}
process.exit(0);
