import { z } from "zod";
import { redactText, redactTokens } from "@/server/redact-tokens";

const Open = z.record(z.string(), z.json());
/** Details of every 429; the Retry-After header is made from them. */
const Later = z.object({ retryAfterSeconds: z.number() }).catchall(z.json());
const Execution = z
  .object({
    executionId: z.string().optional(),
    receiptId: z.string().nullish(),
    /** The provider's answer. Its `message` is included on the caller's own connection only, while content is retained. */
    provider: z
      .object({ status: z.int().nullable(), code: z.string().nullable(), message: z.string().nullish() })
      .optional(),
  })
  .catchall(z.json());
const usd = z.number();

type Spec = {
  /** HTTP status of the error, also when a synchronous execution fails with it. */
  status: number;
  /** May the same request succeed later, unchanged? */
  retryable: boolean;
  /**
   * May a program retry automatically, with no risk that anything runs or is charged twice? Absent: as `retryable`, which
   * also relies on an idempotency key.
   */
  repeatable?: boolean;
  /** As `job.error`: is this final? */
  terminal?: boolean;
  next: "stop" | "inspect_error" | "retry_new" | "retry_after_backoff" | "present_approval";
  /** What to do next, where it is the same for every error with this code: `fail` adds it to the message. */
  step?: string;
  details: z.ZodType;
  /** The details are fields beside `code` instead of under `details`. */
  inline?: true;
};

/** One row per code: status, retryability, next step and details, shared by HTTP, job.error, tRPC, MCP and OpenAPI. */
export const ERRORS = {
  AuthenticationFailed: { status: 401, retryable: false, next: "stop", details: Open },
  AuthorizationFailed: { status: 403, retryable: false, next: "stop", details: Open },
  CapabilityNotAllowed: { status: 403, retryable: false, next: "stop", details: Open },
  /** The organization reached a limit of its plan: `limit` names it, `upgrade` the plan that allows more. */
  PlanLimitReached: { status: 403, retryable: false, next: "stop", details: Open },
  /** The organization turned off executions that call a provider. */
  EXTERNAL_ACTIONS_DISABLED: {
    status: 403,
    retryable: false,
    next: "stop",
    details: z.object({ upgradeUrl: z.string() }),
  },
  CrossSiteRequest: { status: 403, retryable: false, next: "stop", details: Open },
  NotFound: {
    status: 404,
    retryable: false,
    next: "stop",
    step: "Check the id or name, and that you have access to it.",
    details: Open,
  },
  UNKNOWN_CAPABILITY: {
    status: 404,
    retryable: false,
    next: "stop",
    step: "List the available ones with GET /v1/capabilities.",
    details: z.object({
      nearestMatches: z.array(z.string()),
      /** Where to connect an account or server that may serve this capability. */
      connectUrl: z.string().optional(),
    }),
  },
  MethodNotAllowed: {
    status: 405,
    retryable: false,
    next: "stop",
    details: z.object({ allow: z.array(z.string()) }),
  },
  /** The body did not arrive in time. */
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
  /** A device is waiting for a person to approve it: ask again after `interval` seconds. */
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

  /** Our own storage cannot be reached; no provider was called. */
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
  /** Required content was removed at the end of its retention, or was never stored. */
  PayloadUnavailable: { status: 410, retryable: false, next: "stop", details: Open },
  PolicyRejected: { status: 400, retryable: false, next: "stop", details: Open },
  PROJECT_REQUIRED: { status: 422, retryable: false, next: "stop", details: Open },
  CONNECTION_REQUIRED: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ connectUrl: z.string(), provider: z.string().optional() }),
  },
  /** A pinned execution runs on the project's own account, never on the operator's. */
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
    /** `fields`: the parts of the request that differ from the quote. */
    details: z.object({ reason: z.string(), fields: z.array(z.string()).optional() }),
  },
  /** execution.quoteId and execution.estimateId name different quotes. */
  ESTIMATE_MISMATCH: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ field: z.string(), quoteId: z.string(), estimateId: z.string() }),
  },
  /** The request matches the quote, but prices or routes have changed since. */
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
    step: "Send the original body to get its result. Use a new key only to run this as a separate execution.",
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
  /** This environment of the project already uses another credential of the same provider. */
  AlreadyConnected: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ credentialId: z.string(), bindingId: z.string() }),
  },
  /** An organization must have an owner. */
  LastOwner: { status: 409, retryable: false, next: "stop", details: Open },
  /** A key that no longer works, or was already replaced, cannot be rotated. */
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
  /** The adapter is in use by the current version of an alias, a default or a binding. */
  AdapterInUse: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({
      adapterId: z.string(),
      references: z.array(z.object({ kind: z.enum(["alias", "default", "binding"]), name: z.string() })),
    }),
  },
  /** The answer would reveal which model did the work before the comparison is judged. */
  ComparisonUnjudged: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ comparisonId: z.string() }),
  },
  /** A comparison can be judged only once. */
  ComparisonJudged: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ comparisonId: z.string(), decision: z.string() }),
  },
  /** The capability request's status does not allow this. */
  RequestStateConflict: {
    status: 409,
    retryable: false,
    next: "stop",
    details: z.object({ requestId: z.string(), status: z.string() }),
  },
  /** The hold is not ambiguous, so there is nothing to resolve. */
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
    step: "Try again when it has ended.",
    details: z.object({ status: z.string() }),
  },
  BudgetExceeded: {
    status: 402,
    retryable: false,
    next: "stop",
    details: z.object({
      scope: z.string(),
      /** For a ceiling set by the request: the field that set it. */
      field: z.string().optional(),
      /** For a stored budget: day, month or total. */
      period: z.string().optional(),
      enforcement: z.string(),
      estimatedCost: usd,
      available: usd,
      ceiling: usd,
      /** For a limit on the number of jobs: that limit. */
      maxJobs: z.int().optional(),
    }),
  },
  /** Neither the allowance nor the wallet covers this execution. */
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
  /** Payments are not set up on this deployment. */
  billing_not_configured: { status: 402, retryable: false, next: "stop", details: Open },

  ProviderRejected: { status: 502, retryable: false, next: "inspect_error", details: Execution },
  UnsupportedTld: { status: 422, retryable: false, next: "stop", details: Execution },
  PROVIDER_EMPTY_OUTPUT: { status: 502, retryable: false, next: "inspect_error", details: Execution },
  PROVIDER_ERROR: { status: 502, retryable: false, next: "inspect_error", details: Execution },
  StructuredOutputInvalid: { status: 502, retryable: false, next: "inspect_error", details: Execution },
  /** The answer did not fit the schema, and neither did the one repair attempt. */
  StructuredOutputRepairFailed: {
    status: 502,
    retryable: false,
    next: "inspect_error",
    details: Execution,
  },
  /** The answer has the right shape but no content. */
  EmptyStructuredOutput: { status: 502, retryable: false, next: "inspect_error", details: Execution },
  /** The model spent all of its output tokens on reasoning and wrote nothing. */
  ReasoningBudgetExhausted: { status: 502, retryable: false, next: "inspect_error", details: Execution },
  OutputLimitReached: { status: 502, retryable: false, next: "inspect_error", details: Execution },
  ExecutionTimeout: { status: 502, retryable: false, next: "inspect_error", details: Execution },
  /** The job did not end while the caller waited; it is still running. */
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

/** The message of an error nobody expected: the cause is in the log only. */
export const INTERNAL_FAILURE =
  "Something failed on our side and was logged. Check whether the request took effect before you send it again. If this happens again, report the request id to the operator.";

/** One entry in the list of a 422, as wire-compatible clients read it. */
export type ValidationIssue = {
  loc: (string | number)[];
  msg: string;
  type: string;
  input?: z.core.util.JSONType;
  ctx?: Record<string, z.core.util.JSONType>;
};

/** An error with a row in ERRORS. The message is public and has no tokens; the cause is for the log. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly details: Record<string, unknown>;
  constructor(
    readonly code: ErrorCode,
    message: string,
    details: Record<string, unknown>,
    /** Response headers, e.g. Retry-After. */
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

/** A 422 whose detail lists the problems, one entry per field, without tokens. */
export class ValidationFault extends Error {
  override readonly name = "ValidationFault";
  readonly issues: ValidationIssue[];
  constructor(issues: ValidationIssue[]) {
    const clean = redactTokens(issues);
    super(clean.map((issue) => `${issue.loc.join(".")}: ${issue.msg}`).join("; "));
    this.issues = clean;
  }
}

/** A message that says what to do next in a sentence of its own. */
const HAS_STEP = /[.!?] \S/;

/**
 * Throws the error of this row: the message says what happened and why, then what to do next: in a sentence of its own, or in
 * the row's step. Wrong details do not compile.
 */
export function fail<C extends ErrorCode>(
  code: C,
  message: string,
  ...rest: Record<string, never> extends Details<C> ? [details?: Details<C>] : [details: Details<C>]
): never {
  const { step }: Spec = ERRORS[code];
  const whole = step && !HAS_STEP.test(message) ? `${message} ${step}` : message;
  throw new Fault(code, whole, (rest[0] ?? {}) as Record<string, unknown>);
}

/** Is it safe and useful to retry a request that failed with this code? */
export function isRepeatable(code: string): boolean {
  if (!isErrorCode(code)) return false;
  const { retryable, repeatable = retryable }: Spec = ERRORS[code];
  return repeatable;
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}
