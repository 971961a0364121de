import { z } from "zod";
import { CheckoutSession } from "@/server/contract/billing";
import { Commission, CommissionRef } from "@/server/contract/commissions";
import { ProjectRef } from "@/server/contract/jobs";
import {
  CapabilityRequest,
  CapabilityRequestBody,
  ListedRequestPage,
  ListRequests,
  RequestEvent,
  RequestRef,
  RequestRevision,
} from "@/server/contract/requests";
import * as requests from "@/server/domain/requests";
import * as api from "@/server/operations/requests";
import { human, router } from "../init";
import { mutation, query } from "../of";

const ProjectRequests = ListRequests.omit({ projectId: true }).extend(ProjectRef.shape);

export const requestsRouter = router({
  list: human
    .input(ProjectRequests)
    .output(ListedRequestPage)
    .query(({ ctx, input: { project_id, ...query } }) =>
      requests.listForPanel(ctx, { ...query, projectId: project_id }),
    ),
  get: query(api.getCapabilityRequest),
  revisions: human
    .input(RequestRef)
    .output(z.array(RequestRevision))
    .query(({ ctx, input }) => requests.revisions(ctx, input.request_id)),
  events: human
    .input(RequestRef)
    .output(z.array(RequestEvent))
    .query(({ ctx, input }) => requests.events(ctx, input.request_id)),
  create: mutation(api.createCapabilityRequest),
  revise: human
    .input(RequestRef.extend({ body: CapabilityRequestBody }))
    .output(CapabilityRequest)
    .mutation(({ ctx, input }) => requests.revise(ctx, input.request_id, input.body)),
  submit: mutation(api.submitCapabilityRequest),
  /** A quote with everything that the approving person needs. */
  commission: human
    .input(CommissionRef)
    .output(Commission)
    .query(({ ctx, input }) => requests.commission(ctx, input.quoteId)),
  /** Opens the checkout of a quote, or joins the one that is open. */
  pay: human
    .input(CommissionRef)
    .output(CheckoutSession.pick({ url: true, paymentId: true }))
    .mutation(({ ctx, input }) => requests.startCommissionCheckout(ctx, input.quoteId)),
});
