import type { z } from "zod";
import type {
  CapabilityRequest,
  FulfilRequest,
  RequestFeedback,
  TellCustomer,
} from "@/server/contract/requests";
import { access } from "@/server/domain/access";
import { isCapability, nearestKeys, noCapability } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { ValidationFault } from "@/server/platform/errors/errors";
import { changed } from "./change";
import { applyMove } from "./transitions";

type ToCustomer = z.output<typeof TellCustomer>;

/** An operator takes up a submitted request. A request already in review is returned unchanged. */
export async function openForReview(ctx: Ctx, requestId: string): Promise<CapabilityRequest> {
  access.authorize(ctx, "operator");
  return changed(requestId, async (client, row) => {
    if (row.status === "in_review") return;
    await applyMove(client, ctx, row, { how: "in_review" });
  });
}

/** Sends a request back to the customer, with a message about the missing information. */
export const askForInformation = (ctx: Ctx, feedback: ToCustomer) =>
  answer(ctx, feedback, "needs_information");

/** Declines a request permanently, with the reason. */
export const decline = (ctx: Ctx, feedback: ToCustomer) => answer(ctx, feedback, "declined");

async function answer(
  ctx: Ctx,
  { requestId, message }: ToCustomer,
  kind: "needs_information" | "declined",
): Promise<CapabilityRequest> {
  access.authorize(ctx, "operator");
  const feedback: RequestFeedback = { kind, message, at: ctx.now().toISOString() };
  return changed(requestId, async (client, row) => {
    await applyMove(client, ctx, row, { how: kind, change: { feedback } });
  });
}

/** Records the capability that a paid request became, which opens its acceptance window. */
export async function fulfil(
  ctx: Ctx,
  { requestId, capabilityKey }: z.output<typeof FulfilRequest>,
): Promise<CapabilityRequest> {
  access.authorize(ctx, "operator");
  if (!isCapability(capabilityKey)) {
    throw new ValidationFault([
      {
        loc: ["body", "capabilityKey"],
        msg: noCapability(capabilityKey),
        type: "unknown_capability",
        ctx: { nearestMatches: nearestKeys(capabilityKey) },
      },
    ]);
  }
  return changed(requestId, async (client, row) => {
    const change = { capability_key: capabilityKey, fulfilled_at: ctx.now() };
    await applyMove(client, ctx, row, { how: "fulfilled", change });
  });
}
