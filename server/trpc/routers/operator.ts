import { z } from "zod";
import { AuditPage } from "@/server/contract/audit";
import { Plan } from "@/server/contract/billing";
import { AskedRefund, CommissionRefund, RefundCommission, RetryRefund } from "@/server/contract/commissions";
import { QueueCounts, RequestDossier, RevisionRef } from "@/server/contract/dossiers";
import { ChangePlan, PlanSettingsView } from "@/server/contract/plan-settings";
import {
  CapabilityRequest,
  CommissionQuote,
  FulfilRequest,
  IssueCommissionQuote,
  ListQueue,
  QueuePage,
  RequestRef,
  RequestRevision,
  TellCustomer,
} from "@/server/contract/requests";
import * as organizations from "@/server/domain/organizations";
import * as payments from "@/server/domain/payments";
import * as requests from "@/server/domain/requests";
import { router } from "../init";
import { does, Nothing, reads } from "../of";

/** The page reloads a request after each action, so a procedure only confirms it. */
const Done = CapabilityRequest.pick({ id: true, status: true });

/**
 * The operators' console for plans and capability requests. Every verb checks that the caller is an operator.
 */
export const operatorRouter = router({
  /** Every organization with its plan, newest first. */
  plans: reads(
    z.object({ cursor: z.string().max(64).optional() }),
    z.object({ items: z.array(PlanSettingsView), nextCursor: z.string().optional() }),
    organizations.listPlanSettings,
  ),
  /** The plans that can be assigned. */
  offered: reads(Nothing, z.array(Plan), organizations.offeredPlans),
  changePlan: does(
    z.strictObject({ organizationId: z.string().min(1).max(64), ...ChangePlan.shape }),
    PlanSettingsView,
    (ctx, { organizationId, ...change }) => organizations.changePlan(ctx, organizationId, change),
  ),
  queue: reads(ListQueue, QueuePage, requests.queue),
  counts: reads(Nothing, QueueCounts, requests.queueCounts),
  request: reads(RequestRef, RequestDossier, (ctx, input) => requests.dossier(ctx, input.request_id)),
  revision: reads(RevisionRef, RequestRevision, requests.revision),
  /** The audit log of a request and its payments. */
  audit: reads(RequestRef.extend({ cursor: z.string().max(64).optional() }), AuditPage, (ctx, input) =>
    requests.auditTrail(ctx, { requestId: input.request_id, cursor: input.cursor }),
  ),
  openForReview: does(RequestRef, Done, (ctx, input) => requests.openForReview(ctx, input.request_id)),
  askForInformation: does(TellCustomer, Done, requests.askForInformation),
  decline: does(TellCustomer, Done, requests.decline),
  issueQuote: does(IssueCommissionQuote, CommissionQuote, requests.issueQuote),
  fulfil: does(FulfilRequest, Done, requests.fulfil),
  /**
   * Success means that the refund is recorded and will be requested in the background. Its state is read with
   * the request.
   */
  refund: does(RefundCommission, CommissionRefund, requests.refund),
  /** Retries any failed refund, including one that started automatically. */
  retryRefund: does(RetryRefund, AskedRefund, payments.retryRefund),
});
