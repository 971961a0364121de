import {
  type CapabilityRequest,
  CapabilityRequestBody,
  type CommissionQuote,
  IssueCommissionQuote,
  type RequestStatus,
} from "@/server/contract/requests";
import type { Ctx } from "@/server/domain/ctx";
import { systemCtx } from "@/server/domain/ctx";
import * as requests from "@/server/domain/requests";
import { applyMove, lockRequest, type Move } from "@/server/domain/requests/transitions";
import { inTransaction } from "@/server/platform/db";

/** A capability request as an agent writes it. */
export const NEED = {
  summary: "Sort stamps by country",
  need: "A photograph of a stamp goes in, the country that issued it comes out.",
};

/** An operator's context with the same clock. */
export const operatorAt = (ctx: Ctx): Ctx => systemCtx("operator", ctx.now);

export const fileNeed = (ctx: Ctx, body: object = {}): Promise<CapabilityRequest> =>
  requests.create(ctx, CapabilityRequestBody.parse({ ...NEED, ...body }));

/** An existing capability, recorded as the one that fulfils a request. */
export const SHIPPED = "compute.evaluate.v1";

/** An operator's quote for a request: 1,250 US dollars in ten business days. */
export const priceOf = (request: CapabilityRequest, more: object = {}) =>
  IssueCommissionQuote.parse({
    requestId: request.id,
    revisionId: request.currentRevisionId,
    priceMicros: 1_250_000_000,
    currency: "USD",
    runtimePricing: { mode: "metered", billingCurrency: "USD", display: "about $0.02 a stamp" },
    targetBusinessDays: 10,
    ...more,
  });

/** A quoted request, with its quote. */
export async function quotedNeed(
  ctx: Ctx,
  more: object = {},
): Promise<{ request: CapabilityRequest; quote: CommissionQuote }> {
  const request = await needIn(ctx, "in_review");
  const quote = await requests.issueQuote(operatorAt(ctx), priceOf(request, more));
  return { request: await requests.get(ctx, request.id), quote };
}

/** Moves a request without the checks of the operation that would move it. */
export const forceMove = (ctx: Ctx, requestId: string, how: Move) =>
  inTransaction(async (client) => {
    const row = await lockRequest(client, requestId);
    if (how === "paid")
      await client.query(
        "UPDATE commission_quote SET state = 'paid', ended_at = $2, payment_id = 'pmt_' || id WHERE request_id = $1 AND state = 'active'",
        [requestId, ctx.now()],
      );
    await applyMove(client, ctx, row, {
      how,
      change: how === "fulfilled" ? { fulfilled_at: ctx.now() } : {},
    });
  });

/** A new request in this state, moved there step by step. */
export async function needIn(ctx: Ctx, status: RequestStatus): Promise<CapabilityRequest> {
  const request = await fileNeed(ctx);
  for (const step of [...WAYS[status], status]) await STEPS[step](ctx, operatorAt(ctx), request);
  return requests.get(ctx, request.id);
}

/** For each state, the states that a request passes through before. */
const WAYS: Record<RequestStatus, RequestStatus[]> = {
  draft: [],
  submitted: [],
  in_review: ["submitted"],
  needs_information: ["submitted", "in_review"],
  declined: ["submitted", "in_review"],
  quoted: ["submitted", "in_review"],
  paid: ["submitted", "in_review", "quoted"],
  fulfilled: ["submitted", "in_review", "quoted", "paid"],
  refunded: ["submitted", "in_review", "quoted", "paid"],
};

const told = ({ id }: CapabilityRequest) => ({ requestId: id, message: "Which stamps?" });

/** The actions that bring a request into a state. */
const STEPS: Record<
  RequestStatus,
  (ctx: Ctx, operator: Ctx, request: CapabilityRequest) => Promise<unknown>
> = {
  draft: async () => {},
  submitted: (ctx, _, { id }) => requests.submit(ctx, id),
  in_review: (_, operator, { id }) => requests.openForReview(operator, id),
  needs_information: (_, operator, request) => requests.askForInformation(operator, told(request)),
  declined: (_, operator, request) => requests.decline(operator, told(request)),
  quoted: (_, operator, request) => requests.issueQuote(operator, priceOf(request)),
  paid: (_, operator, { id }) => forceMove(operator, id, "paid"),
  fulfilled: (_, operator, { id }) => requests.fulfil(operator, { requestId: id, capabilityKey: SHIPPED }),
  refunded: (_, operator, { id }) => forceMove(operator, id, "refunded"),
};
