import { z } from "zod";
import { BillingCurrency, RefundState } from "./billing";
import { branded, DateTime, IdempotencyKey, JsonObject, Money, PathId, pageLimit } from "./common";
import { REQUEST_STATUSES, RUNTIME_PRICING_MODES } from "./enums";
import { PricingContract } from "./pricing";
import { RequestEventType } from "./webhooks";

const Id = z.string().min(1).max(64);
const MOST_CASES = 100;
export const REQUEST_VERSION = "service.capability-request.v1";
/** Kept as it was sent, white space too, since the hash covers it; only not blank. */
const words = (most: number) => z.string().min(1).max(most).regex(/\S/, { message: "must not be blank" });

/** Where a request is on its way from a need to a capability. */
export const RequestStatus = z.enum(REQUEST_STATUSES);
export type RequestStatus = z.output<typeof RequestStatus>;

/** The request. Members of your own are kept and become part of the hash; what is null counts as left out. */
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

/** One wording, frozen: `requestHash` is the SHA-256 of the RFC 8785 form of `content`. */
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

/** What the customer's side does next: `present_quote` and what follows it need a person. */
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
    /** Of the quote that can be paid or was; null: none. */
    quoteId: z.string().nullable(),
    /** The capability it became; null: not yet. */
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

/** What running the capability will cost, as far as is known before it exists. */
export const ProjectedPricing = PricingContract.extend({ status: z.literal("projected") });
export type ProjectedPricing = z.output<typeof ProjectedPricing>;

export const CommissionState = z.enum(["active", "expired", "superseded", "paid"]);
export type CommissionState = z.output<typeof CommissionState>;

/** A price for making a capability. No execution can name it, and only a person can pay it. */
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
    /** The page where a person of the organization pays; no one else can. */
    approval: z.object({ humanRequired: z.literal(true), approvalUrl: z.string() }),
  })
  .meta({ id: "CapabilityQuoteView" });
export type CommissionQuote = z.output<typeof CommissionQuote>;

/** How the price of running it is put, by an operator who cannot know it all yet. */
export const RuntimePricingDraft = z
  .strictObject({
    mode: z.enum(RUNTIME_PRICING_MODES),
    billingCurrency: BillingCurrency,
    /** In words, e.g. "about $0.02 a page". */
    display: z.string().trim().min(1).max(300),
    startingAtMicros: z.int().min(0).max(1_000_000_000).nullish(),
  })
  .refine(({ mode, startingAtMicros }) => mode !== "free" || !startingAtMicros, {
    path: ["startingAtMicros"],
    message: "is not allowed when the capability is free",
  });

/** An operator's act of issuing a commission quote. */
export const IssueCommissionQuote = z.strictObject({
  requestId: Id,
  /** The revision that was read: another one by now is a conflict. */
  revisionId: Id,
  /** A whole number of cents. */
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

/** An operator's words to the customer: what is missing, or why not. */
export const TellCustomer = z.strictObject({ requestId: Id, message: z.string().trim().min(1).max(4_000) });
export const FulfilRequest = z.strictObject({
  requestId: Id,
  capabilityKey: z.string().trim().min(1).max(200),
});

/** What happened to a request, oldest first. */
export const RequestEvent = z.object({
  eventId: z.string(),
  type: RequestEventType,
  actorId: z.string(),
  actorKind: z.string(),
  /** The email of a person, the name of a key; null: the system, or an actor who is not shown, as operators to customers. */
  actorName: z.string().nullable(),
  payload: JsonObject,
  createdAt: DateTime,
});
export type RequestEvent = z.output<typeof RequestEvent>;

export const ListRequests = z.object({
  projectId: Id.optional(),
  status: RequestStatus.optional(),
  /** The `nextCursor` of the page before: a request id. */
  cursor: z.string().max(64).optional(),
  limit: pageLimit(100, 25),
});
export type ListRequests = z.output<typeof ListRequests>;
/** A request in a list: without its wording, which may be long. */
export const RequestSummary = CapabilityRequest.omit({ revision: true, nextAction: true })
  .extend({
    summary: z.string(),
    revisionNumber: z.int(),
    /** Of the quote that can be paid or was, before tax, and until when it can be; null: there is none. */
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
  /** The state of the refund; null: it was not requested. */
  refund: RefundState.nullable(),
});
export type ListedRequest = z.output<typeof ListedRequest>;
export const ListedRequestPage = z.object({
  items: z.array(ListedRequest),
  nextCursor: z.string().optional(),
});
export type ListedRequestPage = z.output<typeof ListedRequestPage>;

/** The operators' list: without a status, every request but drafts. */
export const ListQueue = ListRequests.omit({ projectId: true }).extend({
  /** Only those of which a payment's refund failed. */
  refund: z.literal("failed").optional(),
  /** Newest first by default. */
  order: z.enum(["newest", "oldest"]).optional(),
});
export const QueuedRequest = ListedRequest.extend({
  organizationName: z.string(),
  projectName: z.string(),
  /** Of any payment for it, also one that was not what it was paid with. */
  hasFailedRefund: z.boolean(),
});
export type QueuedRequest = z.output<typeof QueuedRequest>;
export const QueuePage = z.object({ items: z.array(QueuedRequest), nextCursor: z.string().optional() });
export type QueuePage = z.output<typeof QueuePage>;
