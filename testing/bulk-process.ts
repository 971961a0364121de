import { systemCtx } from "@/server/domain/ctx";
import { work } from "@/server/domain/pins/bulk/run";

/* Works on one bulk in a process of its own, beside others, until it has ended; it may die on the way. */
const [, , bulkId = "", fence = "0"] = process.argv;
const ctx = systemCtx("bulk-process");
for (;;) {
  const next = await work(ctx, { id: bulkId, fence: Number(fence) });
  if (next.state === "ended") break;
  await new Promise((resolve) => setTimeout(resolve, 50));
}
process.exit(0);
