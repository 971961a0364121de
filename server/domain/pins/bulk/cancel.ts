import type { PinnedBulk } from "@/server/contract/pinned";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { requireFeature } from "@/server/domain/plans";
import { fail } from "@/server/platform/errors/errors";
import { RUN } from "../single";
import { cancelItems, endBulk } from "./claims";
import { viewBulk } from "./read";
import { findBulk, hasEnded } from "./rows";

/**
 * Cancels the items of a bulk that have not been sent. Items under way end normally; the bulk then ends by
 * the results of its items. Canceling again returns the same bulk; throws JobNotCancelable if the bulk ended
 * without a cancel.
 */
export async function cancelBulk(ctx: Ctx, bulkId: string): Promise<PinnedBulk> {
  const bulk = await findBulk(ctx, bulkId, RUN);
  requireFeature(await access.authorize(ctx, "pins:cancel", { projectId: bulk.project_id }), "cancel");
  const now = ctx.now();
  if (!hasEnded(bulk) && (await cancelItems(bulk.id, now))) await endBulk(bulk.id, now);
  const after = await viewBulk(ctx, bulkId, RUN);
  if (after.cancelRequestedAt === null)
    fail("JobNotCancelable", `The bulk can no longer be canceled: its status is ${after.status}.`, {
      status: after.status,
    });
  return after;
}
