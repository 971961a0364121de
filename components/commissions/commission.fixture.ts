import type { Commission, CommissionPayment } from "@/server/contract/commissions";

export const NOW = "2026-11-22T10:00:00.000Z";
const money = (amountMicros: number, currency = "USD") => ({
  amountMicros,
  currency,
  amountMinor: Math.round(amountMicros / 10_000),
  display: `$${(amountMicros / 1_000_000).toFixed(2)}`,
});

export function paymentOf(change: Partial<CommissionPayment> = {}): CommissionPayment {
  return {
    paymentId: "pmt_1",
    state: "open",
    amount: money(1_500_000_000),
    tax: money(0),
    refunded: money(0),
    test: true,
    startedBy: "ada@example.com",
    createdAt: NOW,
    paidAt: null,
    refund: null,
    ...change,
  };
}

export const refundOf = (
  reason: NonNullable<CommissionPayment["refund"]>["reason"],
  state: NonNullable<CommissionPayment["refund"]>["state"] = "pending",
): NonNullable<CommissionPayment["refund"]> => ({ reason, state, requestedAt: NOW, completedAt: null });

type Change = {
  status?: Commission["quote"]["status"];
  request?: Partial<Commission["request"]>;
  payments?: CommissionPayment[];
} & Partial<Pick<Commission, "checkout" | "isMember" | "mayPay">>;

/** A commission quote as its page receives it, four days before it expires. */
export function commissionOf({
  status = "active",
  request = {},
  payments = [],
  ...change
}: Change = {}): Commission {
  const revision: Commission["revision"] = {
    id: "crr_1",
    number: 2,
    requestHash: `sha256:${"a".repeat(64)}`,
    content: {
      schemaVersion: "service.capability-request.v1",
      summary: "Read measurements off a drawing",
      need: "Drawings come as PDF.\nWe need every dimension with its unit.",
      acceptanceCases: [{ input: { page: 1 }, expected: { dimensions: 12 } }],
    },
    createdBy: "key_1",
    createdAt: NOW,
  };
  return {
    quote: {
      quoteId: "cq_1",
      quoteKind: "commission",
      notExecutionQuoteId: true,
      requestId: "cr_1",
      requestRevisionId: revision.id,
      requestHash: revision.requestHash,
      status,
      commissionPrice: money(1_500_000_000),
      taxTreatment: "tax_calculated_at_checkout",
      runtimePricing: {
        mode: "metered",
        billingCurrency: "USD",
        display: "about $0.02 a page",
        pricingVersion: "1",
        estimateRequired: false,
        quoteEndpoint: null,
        estimateEndpoint: null,
        pricingFactors: [],
        pricingContext: "catalog_default",
        authoritativeForExecution: false,
        examples: [],
        billable: true,
        quote: { supported: false, requirements: [] },
        status: "projected",
      },
      delivery: { targetBusinessDays: 10 },
      guarantee: { kind: "full-satisfaction-refund", acceptanceWindowDays: 7 },
      note: "We start with the drawings you sent.",
      issuedAt: NOW,
      expiresAt: "2026-11-26T10:00:00.000Z",
      approval: { humanRequired: true, approvalUrl: "http://localhost/approve/capability-quotes/cq_1" },
    },
    organization: { organizationId: "org_1", displayName: "Atelier" },
    project: { projectId: "cpr_1", displayName: "Drawings" },
    revision,
    request: {
      schemaVersion: "service.capability-request.v1",
      id: "cr_1",
      organizationId: "org_1",
      projectId: "cpr_1",
      status: "quoted",
      currentRevisionId: revision.id,
      requestHash: revision.requestHash,
      revision,
      feedback: null,
      quoteId: "cq_1",
      capabilityKey: null,
      createdBy: "key_1",
      createdAt: NOW,
      updatedAt: NOW,
      submittedAt: NOW,
      fulfilledAt: null,
      nextAction: "present_quote",
      ...request,
    },
    payments,
    checkout: { provider: "test", test: true },
    isMember: true,
    mayPay: true,
    now: NOW,
    ...change,
  };
}
