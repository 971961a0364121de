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
import { human, router } from "../init";

/** The page reloads a request after each action, so a procedure only confirms it. */
const Done = CapabilityRequest.pick({ id: true, status: true });

/** The operators' console for capability requests. Every verb checks that the caller is an operator. */
export const operatorRouter = router({
  /** Every organization with its plan, newest first. */
  plans: human
    .input(z.object({ cursor: z.string().max(64).optional() }))
    .output(z.object({ items: z.array(PlanSettingsView), nextCursor: z.string().optional() }))
    .query(({ ctx, input }) => organizations.listPlanSettings(ctx, input)),
  /** The plans that can be assigned. */
  offered: human.output(z.array(Plan)).query(({ ctx }) => organizations.offeredPlans(ctx)),
  changePlan: human
    .input(z.strictObject({ organizationId: z.string().min(1).max(64), ...ChangePlan.shape }))
    .output(PlanSettingsView)
    .mutation(({ ctx, input: { organizationId, ...change } }) =>
      organizations.changePlan(ctx, organizationId, change),
    ),
  queue: human
    .input(ListQueue)
    .output(QueuePage)
    .query(({ ctx, input }) => requests.queue(ctx, input)),
  counts: human.output(QueueCounts).query(({ ctx }) => requests.queueCounts(ctx)),
  request: human
    .input(RequestRef)
    .output(RequestDossier)
    .query(({ ctx, input }) => requests.dossier(ctx, input.request_id)),
  revision: human
    .input(RevisionRef)
    .output(RequestRevision)
    .query(({ ctx, input }) => requests.revision(ctx, input)),
  /** The audit log of a request and its payments. */
  audit: human
    .input(RequestRef.extend({ cursor: z.string().max(64).optional() }))
    .output(AuditPage)
    .query(({ ctx, input }) =>
      requests.auditTrail(ctx, { requestId: input.request_id, cursor: input.cursor }),
    ),
  openForReview: human
    .input(RequestRef)
    .output(Done)
    .mutation(({ ctx, input }) => requests.openForReview(ctx, input.request_id)),
  askForInformation: human
    .input(TellCustomer)
    .output(Done)
    .mutation(({ ctx, input }) => requests.askForInformation(ctx, input)),
  decline: human
    .input(TellCustomer)
    .output(Done)
    .mutation(({ ctx, input }) => requests.decline(ctx, input)),
  issueQuote: human
    .input(IssueCommissionQuote)
    .output(CommissionQuote)
    .mutation(({ ctx, input }) => requests.issueQuote(ctx, input)),
  fulfil: human
    .input(FulfilRequest)
    .output(Done)
    .mutation(({ ctx, input }) => requests.fulfil(ctx, input)),
  /** Success means that the provider was asked; the result is read with the request. */
  refund: human
    .input(RefundCommission)
    .output(CommissionRefund)
    .mutation(({ ctx, input }) => requests.refund(ctx, input)),
  /** Retries any failed refund, including one that started automatically. */
  retryRefund: human
    .input(RetryRefund)
    .output(AskedRefund)
    .mutation(({ ctx, input }) => payments.retryRefund(ctx, input)),
});
