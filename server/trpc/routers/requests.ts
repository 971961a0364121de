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
import { router } from "../init";
import { does, mutation, query, reads } from "../of";

const ProjectRequests = ListRequests.omit({ projectId: true }).extend(ProjectRef.shape);

export const requestsRouter = router({
  list: reads(ProjectRequests, ListedRequestPage, (ctx, { project_id, ...query }) =>
    requests.listForPanel(ctx, { ...query, projectId: project_id }),
  ),
  get: query(api.getCapabilityRequest),
  revisions: reads(RequestRef, z.array(RequestRevision), (ctx, input) =>
    requests.revisions(ctx, input.request_id),
  ),
  events: reads(RequestRef, z.array(RequestEvent), (ctx, input) => requests.events(ctx, input.request_id)),
  create: mutation(api.createCapabilityRequest),
  revise: does(RequestRef.extend({ body: CapabilityRequestBody }), CapabilityRequest, (ctx, input) =>
    requests.revise(ctx, input.request_id, input.body),
  ),
  submit: mutation(api.submitCapabilityRequest),
  /** A quote with everything that the approving person needs. */
  commission: reads(CommissionRef, Commission, (ctx, input) => requests.commission(ctx, input.quoteId)),
  /** Opens the checkout of a quote, or joins the one that is open. */
  pay: does(CommissionRef, CheckoutSession.pick({ url: true, paymentId: true }), (ctx, input) =>
    requests.startCommissionCheckout(ctx, input.quoteId),
  ),
});
