import { z } from "zod";
import { BillingCurrency, RefundState } from "./billing";
import { branded, DateTime, IdempotencyKey, JsonObject, Money, PathId, pageLimit } from "./common";
import { REQUEST_STATUSES, RUNTIME_PRICING_MODES } from "./enums";
import { PricingContract } from "./pricing";
import { RequestEventType } from "./webhooks";

const Id = z.string().min(1).max(64);
const MOST_CASES = 100;
export const REQUEST_VERSION = "service.capability-request.v1";
/** Text that is stored as sent, including white space, because the hash covers it; it must not be blank. */
const words = (most: number) => z.string().min(1).max(most).regex(/\S/, { message: "must not be blank" });

/** State of a capability request, from its draft to the finished capability. */
export const RequestStatus = z.enum(REQUEST_STATUSES);
export type RequestStatus = z.output<typeof RequestStatus>;

/** A capability request. The caller's own members are kept and hashed; null counts as left out. */
export const CapabilityRequestBody = z
  .looseObject({
    schemaVersion: branded(
      /^[a-z0-9-]+\.capability-request\.v1$/,
      REQUEST_VERSION,
      z.literal(REQUEST_VERSION),
    )
      .nullable()
      .default(REQUEST_VERSION),
    projectId: Id.nullish().meta({ description: "Not needed with a key that is bound to a project." }),
    summary: words(300),
    need: words(20_000),
    proposedCapability: JsonObject.nullish().meta({
      description: "A suggested `capabilityKey` and anything else that helps.",
    }),
    constraints: JsonObject.nullish().meta({ description: "For example `maxLatencySeconds`." }),
    acceptanceCases: z
      .array(JsonObject)
      .max(MOST_CASES)
      .nullish()
      .meta({ description: "Each with `input` and `expected`, to show that the capability works." }),
    implementationPreferences: JsonObject.nullish(),
    idempotencyKey: IdempotencyKey.meta({
      description: "Creating the same request twice with this key creates it once.",
    }),
  })
  .meta({ id: "CapabilityRequestBody" });
export type CapabilityRequestBody = z.output<typeof CapabilityRequestBody>;

export const RequestRef = z.object({ request_id: PathId });

/** One frozen revision: `requestHash` is the SHA-256 of the RFC 8785 form of `content`. */
export const RequestRevision = z
  .looseObject({
    id: z.string(),
    number: z.int(),
    requestHash: z.string(),
    content: JsonObject,
    createdBy: z.string(),
    createdAt: DateTime,
  })
  .meta({ id: "CapabilityRequestRevision" });
export type RequestRevision = z.output<typeof RequestRevision>;

/** The operator's last message to the customer. */
export const RequestFeedback = z.object({
  kind: z.enum(["needs_information", "declined", "refunded"]),
  message: z.string(),
  at: DateTime,
});
export type RequestFeedback = z.output<typeof RequestFeedback>;

/** The customer's next step. `present_quote` needs a person. */
export const RequestNextAction = z.enum(["submit", "poll", "revise", "present_quote", "run", "stop"]);
export const CapabilityRequest = z
  .object({
    schemaVersion: z.literal(REQUEST_VERSION),
    id: z.string(),
    organizationId: z.string(),
    projectId: z.string(),
    status: RequestStatus,
    currentRevisionId: z.string(),
    /** `sha256:<hex>` of the current revision. */
    requestHash: z.string(),
    revision: RequestRevision,
    feedback: RequestFeedback.nullable(),
    /** The quote that can be paid or was paid; null if there is none. */
    quoteId: z.string().nullable(),
    /** The capability that fulfills the request; null until then. */
    capabilityKey: z.string().nullable(),
    createdBy: z.string(),
    createdAt: DateTime,
    updatedAt: DateTime,
    submittedAt: DateTime.nullable(),
    fulfilledAt: DateTime.nullable(),
    nextAction: RequestNextAction.describe(
      "`submit` the draft, `poll` until an operator has acted, `revise` by the feedback, `present_quote` to a person who can pay, `run` the capability, or `stop`.",
    ),
  })
  .meta({ id: "CapabilityRequestView" });
export type CapabilityRequest = z.output<typeof CapabilityRequest>;

/** The expected price of running the capability, as far as it is known before the capability exists. */
export const ProjectedPricing = PricingContract.extend({ status: z.literal("projected") });
export type ProjectedPricing = z.output<typeof ProjectedPricing>;

export const CommissionState = z.enum(["active", "expired", "superseded", "paid"]);
export type CommissionState = z.output<typeof CommissionState>;

/** The price of building a capability. It cannot be used for an execution, and only a person can pay it. */
export const CommissionQuote = z
  .object({
    quoteId: z.string(),
    quoteKind: z.literal("commission"),
    notExecutionQuoteId: z.literal(true),
    requestId: z.string(),
    requestRevisionId: z.string(),
    requestHash: z.string(),
    status: CommissionState,
    /** Before tax. */
    commissionPrice: Money,
    taxTreatment: z.literal("tax_calculated_at_checkout"),
    runtimePricing: ProjectedPricing,
    delivery: z.object({ targetBusinessDays: z.int() }),
    guarantee: z.object({ kind: z.literal("full-satisfaction-refund"), acceptanceWindowDays: z.int() }),
    note: z.string().nullable(),
    issuedAt: DateTime,
    expiresAt: DateTime,
    /** The page on which a person of the organization pays; a key cannot. */
    approval: z.object({ humanRequired: z.literal(true), approvalUrl: z.string() }),
  })
  .meta({ id: "CapabilityQuoteView" });
export type CommissionQuote = z.output<typeof CommissionQuote>;

/** The operator's estimate of the price of a run, before the capability exists. */
export const RuntimePricingDraft = z
  .strictObject({
    mode: z.enum(RUNTIME_PRICING_MODES),
    billingCurrency: BillingCurrency,
    /** Text such as "about $0.02 a page". */
    display: z.string().trim().min(1).max(300),
    startingAtMicros: z.int().min(0).max(1_000_000_000).nullish(),
  })
  .refine(({ mode, startingAtMicros }) => mode !== "free" || !startingAtMicros, {
    path: ["startingAtMicros"],
    message: "is not allowed when the capability is free",
  });

export const IssueCommissionQuote = z.strictObject({
  requestId: Id,
  /** The revision that the operator read; a newer revision is a conflict. */
  revisionId: Id,
  priceMicros: z
    .int()
    .min(1_000_000)
    .max(1_000_000_000_000)
    .refine((micros) => micros % 10_000 === 0, { message: "must be a whole number of cents" }),
  currency: BillingCurrency,
  runtimePricing: RuntimePricingDraft,
  targetBusinessDays: z.int().min(1).max(250),
  note: z.string().trim().max(4_000).nullish(),
});
export type IssueCommissionQuote = z.output<typeof IssueCommissionQuote>;

/** An operator's message to the customer: the missing information, or the reason for declining. */
export const TellCustomer = z.strictObject({ requestId: Id, message: z.string().trim().min(1).max(4_000) });
export const FulfilRequest = z.strictObject({
  requestId: Id,
  capabilityKey: z.string().trim().min(1).max(200),
});

/** A step in a request's history. */
export const RequestEvent = z.object({
  eventId: z.string(),
  type: RequestEventType,
  actorId: z.string(),
  actorKind: z.string(),
  /**
   * A person's email address or a key's name. Null for the system, and for actors who are hidden, as operators are from
   * customers.
   */
  actorName: z.string().nullable(),
  payload: JsonObject,
  createdAt: DateTime,
});
export type RequestEvent = z.output<typeof RequestEvent>;

export const ListRequests = z.object({
  projectId: Id.optional(),
  status: RequestStatus.optional(),
  /** The `nextCursor` of the previous page, a request id. */
  cursor: z.string().max(64).optional(),
  limit: pageLimit(100, 25),
});
export type ListRequests = z.output<typeof ListRequests>;
/** A request in a list, without its content, which can be long. */
export const RequestSummary = CapabilityRequest.omit({ revision: true, nextAction: true })
  .extend({
    summary: z.string(),
    revisionNumber: z.int(),
    /** Price before tax and expiry of the quote that can be paid or was paid; null if there is none. */
    price: Money.nullable(),
    quoteExpiresAt: DateTime.nullable(),
  })
  .meta({ id: "CapabilityRequestSummary" });
export type RequestSummary = z.output<typeof RequestSummary>;
export const RequestPage = z
  .object({ items: z.array(RequestSummary), nextCursor: z.string().optional() })
  .meta({ id: "CapabilityRequestPage" });
export type RequestPage = z.output<typeof RequestPage>;

/** The same for the panel's own lists. */
export const ListedRequest = RequestSummary.extend({
  /** State of the refund; null if none was requested. */
  refund: RefundState.nullable(),
});
export type ListedRequest = z.output<typeof ListedRequest>;
export const ListedRequestPage = z.object({
  items: z.array(ListedRequest),
  nextCursor: z.string().optional(),
});
export type ListedRequestPage = z.output<typeof ListedRequestPage>;

/** The operators' list; without `status` and `refund` it has every request except drafts. */
export const ListQueue = ListRequests.omit({ projectId: true }).extend({
  /** Selects requests with a failed refund of a payment. */
  refund: z.literal("failed").optional(),
  /** Defaults to newest first. */
  order: z.enum(["newest", "oldest"]).optional(),
});
export const QueuedRequest = ListedRequest.extend({
  organizationName: z.string(),
  projectName: z.string(),
  /** True if any payment for the request has a failed refund, also a payment that did not pay its quote. */
  hasFailedRefund: z.boolean(),
});
export type QueuedRequest = z.output<typeof QueuedRequest>;
export const QueuePage = z.object({ items: z.array(QueuedRequest), nextCursor: z.string().optional() });
export type QueuePage = z.output<typeof QueuePage>;
