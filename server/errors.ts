import { z } from "zod";
import { redactText, redactTokens } from "@/server/redact-tokens";

const Open = z.record(z.string(), z.json());
/** Of every 429; the header Retry-After is made of it. */
const Later = z.object({ retryAfterSeconds: z.number() }).catchall(z.json());
const Execution = z
  .object({
    executionId: z.string().optional(),
    receiptId: z.string().nullish(),
    /** What the provider answered; `message` only of the caller's own connection, and only as long as content is kept. */
    provider: z
      .object({ status: z.int().nullable(), code: z.string().nullable(), message: z.string().nullish() })
      .optional(),
  })
  .catchall(z.json());
const usd = z.number();

type Spec = {
  /** HTTP status of the refusal; of a sync execution that failed with it. */
  status: number;
  /** May the same request succeed later, unchanged? */
  retryable: boolean;
  /**
   * May a program send the same request again unasked, with a chance that it succeeds and none that anything runs or is paid
   * twice? Absent: as `retryable`, which also counts on an idempotency key.
   */
  repeatable?: boolean;
  /** As `job.error`: is this the end of it? */
  terminal?: boolean;
  next: "stop" | "inspect_error" | "retry_new" | "retry_after_backoff" | "present_approval";
  details: z.ZodType;
  /** The details stand beside `code` instead of under `details`. */
  inline?: true;
};

/** One row per code: status, retryability, next action and shape of details, for HTTP, job.error, tRPC and OpenAPI alike. */
export const ERRORS = {
  AuthenticationFailed: { status: 401, retryable: false, next: "stop", details: Open },
  AuthorizationFailed: { status: 403, retryable: false, next: "stop", details: Open },
  CapabilityNotAllowed: { status: 403, retryable: false, next: "stop", details: Open },
  /** The organization's plan has no room for more: `limit` says of what, `upgrade` which plan has. */
  PlanLimitReached: { status: 403, retryable: false, next: "stop", details: Open },
  /** The organization has switched off executions that reach a provider. */
  EXTERNAL_ACTIONS_DISABLED: {
    status: 403,
    retryable: false,
    next: "stop",
    details: z.object({ upgradeUrl: z.string() }),
  },
  CrossSiteRequest: { status: 403, retryable: false, next: "stop", details: Open },
  NotFound: { status: 404, retryable: false, next: "stop", details: Open },
  UNKNOWN_CAPABILITY: {
    status: 404,
    retryable: false,
    next: "stop",
    details: z.object({
      nearestMatches: z.array(z.string()),
      /** Where an account or server is connected that may have what was asked for. */
      connectUrl: z.string().optional(),
    }),
  },
  MethodNotAllowed: {
    status: 405,
    retryable: false,
    next: "stop",
    details: z.object({ allow: z.array(z.string()) }),
  },
  /** The body did not come in time. */
  RequestTimeout: { status: 408, retryable: true, next: "retry_after_backoff", details: Open },
  Gone: { status: 410, retryable: false, next: "stop", details: Open },
  PayloadTooLarge: {
    status: 413,
    retryable: false,
    next: "stop",
    details: z.object({ maxBytes: z.number() }),
  },
  UnsupportedMediaType: { status: 415, retryable: false, next: "stop", details: Open },
  RangeNotSatisfiable: {
    status: 416,
    retryable: false,
    next: "stop",
    details: z.object({ byteLength: z.number() }),
  },
  /** A device waits for a person to approve it: ask again after so many seconds. */
  AuthorizationPending: {
    status: 428,
    retryable: true,
    next: "retry_after_backoff",
    details: z.object({ interval: z.number() }),
  },
  RateLimited: {
    status: 429,
    retryable: true,
    next: "retry_after_backoff",
    details: Later,
  },
  DURABLE_CONCURRENCY_LIMIT: { status: 429, retryable: true, next: "retry_after_backoff", details: Later },
  InternalFailure: {
    status: 500,
    retryable: true,
    repeatable: false,
    terminal: false,
    next: "retry_after_backoff",
    details: Open,
  },

  /** Our own storage cannot be reached; no provider was asked. */
  ServiceUnavailable: {
    status: 503,
    retryable: true,
    terminal: false,
    next: "retry_after_backoff",
    details: z.object({ retryAfterSeconds: z.number() }),
  },

  InvalidRequest: { status: 400, retryable: false, next: "stop", details: Open },
  InvalidInput: { status: 422, retryable: false, next: "stop", details: Open },
  UNKNOWN_INPUT_FIELD: {
    status: 422,
    retryable: false,
    next: "stop",
    details: z.object({ fields: z.array(z.string()), allowed: z.array(z.string()) }),
  },
  UNKNOWN_EXECUTION_FIELD: {
    status: 422,
    retryable: false,
    next: "stop",
    inline: true,
    details: z.object({
      path: z.string(),
      didYouMean: z.string().nullable(),
      supported: z.array(z.string()),
      retryable: z.literal(false),
    }),
  },
  CONFLICTING_EXECUTION_CONSTRAINT: {
    status: 422,
    retryable: false,
    next: "stop",
    details: z.object({ field: z.string(), values: z.array(z.json()) }),
  },
  PromptTooLong: {
    status: 422,
    retryable: false,
    next: "stop",
    inline: true,
    details: z.object({
      field: z.string(),
      measurement: z.enum(["characters", "tokens"]),
      overflow: z.literal("reject"),
      actualCharacters: z.number().optional(),
      maxCharacters: z.number().optional(),
      actualTokens: z.number().optional(),
      maxTokens: z.number().optional(),
      capabilityKey: z.string(),
      provider: z.string().optional(),
      modelId: z.string().optional(),
      retryable: z.literal(false),
    }),
  },
  USE_JOBS: { status: 400, retryable: false, next: "stop", details: z.object({ submit: z.string() }) },
  USE_INVOKE: { status: 400, retryable: false, next: "stop", details: z.object({ invoke: z.string() }) },
  /** Content that is needed was removed when its retention ended, or was never kept. */
  PayloadUnavailable: { status: 410, retryable: false, next: "stop", details: Open },
  PolicyRejected: { status: 400, retryable: false, next: "stop", details: Open },
  PROJECT_REQUIRED: { status: 422, retryable: false, next: "stop", details: Open },
  CONNECTION_REQUIRED: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ connectUrl: z.string(), provider: z.string().optional() }),
  },
  /** A pinned execution runs on the project's own account; the operator's are not for it. */
  MANAGED_PINNED_UNAVAILABLE: { status: 501, retryable: false, next: "stop", details: Open },
  ROUTE_UNAVAILABLE: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ alternates: z.array(z.string()) }).catchall(z.json()),
  },
  PRICING_INPUTS_REQUIRED: {
    status: 422,
    retryable: false,
    next: "stop",
    details: z.object({ missing: z.array(z.string()) }),
  },
  EstimateUnavailable: { status: 422, retryable: false, next: "stop", details: Open },
  QUOTE_MISMATCH: {
    status: 409,
    retryable: false,
    next: "stop",
    /** `fields`: the parts of the request that are not as they were quoted. */
    details: z.object({ reason: z.string(), fields: z.array(z.string()).optional() }),
  },
  /** execution.quoteId and execution.estimateId name two quotes. */
  ESTIMATE_MISMATCH: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ field: z.string(), quoteId: z.string(), estimateId: z.string() }),
  },
  /** The request is as quoted; prices or routes are not any more. */
  REESTIMATE_REQUIRED: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({
      reason: z.string(),
      pricingVersion: z.string(),
      quotedPricingVersion: z.string(),
      quotedMaximum: usd,
      maximum: usd,
    }),
  },
  IdempotencyConflict: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ jobId: z.string() }),
  },
  JobNotCancelable: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ status: z.string() }),
  },
  JobNotAwaitingApproval: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ status: z.string() }),
  },
  EndpointDisabled: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ endpointId: z.string() }),
  },
  /** This environment of the project runs on another credential of the same provider. */
  AlreadyConnected: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ credentialId: z.string(), bindingId: z.string() }),
  },
  /** An organization without an owner is nobody's. */
  LastOwner: { status: 409, retryable: false, next: "stop", details: Open },
  /** A key that works no more, or has a successor, is not rotated. */
  KeyNotRotatable: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ keyId: z.string(), replacedBy: z.string().nullable() }),
  },
  JobNotInAttention: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ status: z.string() }),
  },
  /** Something still uses the adapter: the current version of an alias, a default or a binding. */
  AdapterInUse: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({
      adapterId: z.string(),
      references: z.array(z.object({ kind: z.enum(["alias", "default", "binding"]), name: z.string() })),
    }),
  },
  /** It would tell who did the work before the comparison is judged. */
  ComparisonUnjudged: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ comparisonId: z.string() }),
  },
  /** A comparison is judged once. */
  ComparisonJudged: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ comparisonId: z.string(), decision: z.string() }),
  },
  /** A capability request is where this cannot be done to it. */
  RequestStateConflict: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ requestId: z.string(), status: z.string() }),
  },
  /** Of money that is set aside: nothing about it is left to find out. */
  HoldNotAmbiguous: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ state: z.string() }),
  },
  RetryNotSafe: { status: 409, retryable: false, next: "stop", details: Open },
  EstimateExceedsMaxCost: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ authorizedMaxAmount: usd, estimatedCost: usd }),
  },
  ApprovalRejected: { status: 409, retryable: false, next: "stop", details: Execution },
  ApprovalExpired: { status: 409, retryable: false, next: "stop", details: Execution },
  JobNotFinished: {
    status: 409,
    retryable: true,
    next: "retry_after_backoff",
    details: z.object({ status: z.string() }),
  },
  BudgetExceeded: {
    status: 402,
    retryable: false,
    next: "stop",
    details: z.object({
      scope: z.string(),
      /** Of a ceiling of the call: the field that set it. */
      field: z.string().optional(),
      /** Of a stored budget: day, month or total. */
      period: z.string().optional(),
      enforcement: z.string(),
      estimatedCost: usd,
      available: usd,
      ceiling: usd,
      /** Of a cap of jobs, which is no money: how many. */
      maxJobs: z.int().optional(),
    }),
  },
  /** The allowance is used up or too small for this, and the wallet does not cover it either. */
  funding_required: {
    status: 402,
    retryable: false,
    next: "stop",
    details: z.object({
      reason: z.string(),
      fundingOptions: z.array(z.string()),
      legacyCode: z.literal("billing_managed_usage_exhausted"),
      estimatedCost: usd,
      remainingMicros: z.number(),
      trialCeilingMicros: z.number(),
      isTest: z.boolean(),
      upgradeUrl: z.string(),
    }),
  },
  /** No way to pay is set up on this deployment. */
  billing_not_configured: { status: 402, retryable: false, next: "stop", details: Open },

  ProviderRejected: { status: 502, retryable: false, next: "inspect_error", details: Execution },
  UnsupportedTld: { status: 422, retryable: false, next: "stop", details: Execution },
  PROVIDER_EMPTY_OUTPUT: { status: 502, retryable: false, next: "inspect_error", details: Execution },
  PROVIDER_ERROR: { status: 502, retryable: false, next: "inspect_error", details: Execution },
  StructuredOutputInvalid: { status: 502, retryable: false, next: "inspect_error", details: Execution },
  /** An answer that did not fit was given back once, and came again unfit. */
  StructuredOutputRepairFailed: {
    status: 502,
    retryable: false,
    next: "inspect_error",
    details: Execution,
  },
  /** An answer of the right shape without anything in it. */
  EmptyStructuredOutput: { status: 502, retryable: false, next: "inspect_error", details: Execution },
  /** The model thought until its output was used up, and wrote nothing. */
  ReasoningBudgetExhausted: { status: 502, retryable: false, next: "inspect_error", details: Execution },
  OutputLimitReached: { status: 502, retryable: false, next: "inspect_error", details: Execution },
  ExecutionTimeout: { status: 502, retryable: false, next: "inspect_error", details: Execution },
  /** A job that its caller waits for has not ended in time; it goes on. */
  JobStillRunning: {
    status: 504,
    retryable: false,
    terminal: false,
    next: "inspect_error",
    details: Execution,
  },
  TRANSPORT_AMBIGUOUS: {
    status: 502,
    retryable: false,
    terminal: false,
    next: "inspect_error",
    details: Execution,
  },
  ProviderUnavailable: {
    status: 503,
    retryable: true,
    terminal: false,
    next: "inspect_error",
    details: Execution,
  },
  QueueTimeout: { status: 502, retryable: false, repeatable: true, next: "retry_new", details: Execution },
  Cancelled: { status: 409, retryable: false, next: "stop", details: Execution },

  invalid_expression: { status: 422, retryable: false, next: "inspect_error", details: Execution },
  unknown_variable: { status: 422, retryable: false, next: "inspect_error", details: Execution },
  unsupported_function: { status: 422, retryable: false, next: "inspect_error", details: Execution },
  division_by_zero: { status: 422, retryable: false, next: "inspect_error", details: Execution },
  numeric_overflow: { status: 422, retryable: false, next: "inspect_error", details: Execution },
  precision_limit_exceeded: { status: 422, retryable: false, next: "inspect_error", details: Execution },
  complexity_limit_exceeded: { status: 422, retryable: false, next: "inspect_error", details: Execution },
  invalid_variable: { status: 422, retryable: false, next: "inspect_error", details: Execution },
  domain_error: { status: 422, retryable: false, next: "inspect_error", details: Execution },
  invalid_parameter: { status: 422, retryable: false, next: "inspect_error", details: Execution },
} as const satisfies Record<string, Spec>;

export type ErrorCode = keyof typeof ERRORS;
type Details<C extends ErrorCode> = z.output<(typeof ERRORS)[C]["details"]>;

/** One entry of a 422's list, as wire-compatible clients read it. */
export type ValidationIssue = {
  loc: (string | number)[];
  msg: string;
  type: string;
  input?: z.core.util.JSONType;
  ctx?: Record<string, z.core.util.JSONType>;
};

/** A refusal with a row in ERRORS. The message is public, and has no tokens; the cause is for the log. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly details: Record<string, unknown>;
  constructor(
    readonly code: ErrorCode,
    message: string,
    details: Record<string, unknown>,
    /** Headers the answer carries, e.g. Retry-After. */
    readonly headers: Record<string, string> = {},
    options?: { cause?: unknown },
  ) {
    super(redactText(message), options);
    this.details = redactTokens(details);
  }

  get row(): Spec {
    return ERRORS[this.code];
  }
}

/** A 422 whose detail is the list of what is wrong, one entry a field, without tokens. */
export class ValidationFault extends Error {
  override readonly name = "ValidationFault";
  readonly issues: ValidationIssue[];
  constructor(issues: ValidationIssue[]) {
    const clean = redactTokens(issues);
    super(clean.map((issue) => `${issue.loc.join(".")}: ${issue.msg}`).join("; "));
    this.issues = clean;
  }
}

/** Refuses with a row of the table; wrong or missing details do not compile. */
export function fail<C extends ErrorCode>(
  code: C,
  message: string,
  ...rest: Record<string, never> extends Details<C> ? [details?: Details<C>] : [details: Details<C>]
): never {
  throw new Fault(code, message, (rest[0] ?? {}) as Record<string, unknown>);
}

/** Is it safe, and of use, to send the request again that was answered with this? */
export function isRepeatable(code: string): boolean {
  if (!isErrorCode(code)) return false;
  const { retryable, repeatable = retryable }: Spec = ERRORS[code];
  return repeatable;
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}
