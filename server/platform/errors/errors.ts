import { z } from "zod";
import { redactText, redactTokens } from "@/server/platform/crypto/redact-tokens";
import "./issue-words";

const Open = z.record(z.string(), z.json());
/** Details of every 429; the Retry-After header is made from them. */
const Later = z.object({ retryAfterSeconds: z.number() }).catchall(z.json());
const Execution = z
  .object({
    executionId: z.string().optional(),
    receiptId: z.string().nullish(),
    /** The provider's answer. Its `message` is included only on the caller's own connection, while content is retained. */
    provider: z
      .object({ status: z.int().nullable(), code: z.string().nullable(), message: z.string().nullish() })
      .optional(),
  })
  .catchall(z.json());
const usd = z.number();
/** The cheapest route that fits the available amount, with a JSON merge patch of the body that chooses it. */
const CheapestRoute = z.object({
  model: z.string(),
  estimatedCost: usd,
  /** The exact amount in millionths of a dollar. */
  estimatedCostMicros: z.int(),
  patch: z.record(z.string(), z.json()),
});

type Spec = {
  /** HTTP status of the error, also when a synchronous execution fails with it. */
  status: number;
  /** True if the same request may succeed later, unchanged. */
  retryable: boolean;
  /**
   * True if a program may retry automatically, with no risk that anything runs or is charged twice. Defaults to `retryable`,
   * which also relies on an idempotency key.
   */
  repeatable?: boolean;
  /** In `job.error`: false if this is not final. Defaults to true. */
  terminal?: boolean;
  next: "stop" | "inspect_error" | "retry_new" | "retry_after_backoff" | "present_approval";
  /** The next step if it is the same for every error with this code; `fail` adds it to a message that has none. */
  step?: string;
  details: z.ZodType;
  /** True if the details are fields beside `code` instead of under `details`. */
  inline?: true;
};

const row = <D extends z.ZodType>(spec: Omit<Spec, "details"> & { details: D }) => spec;

// `Open as never` is safe: without an argument nothing infers D, so it is the type of Open.

/** Row of an error that repeating the request unchanged cannot resolve. `step` is added to the message. */
const stop = <D extends z.ZodType = typeof Open>(status: number, details: D = Open as never, step?: string) =>
  row({ status, retryable: false, next: "stop", details, ...(step ? { step } : {}) });
/** A `stop` row with the details as fields beside `code`. */
const inline = <D extends z.ZodType>(status: number, details: D) =>
  row({ ...stop(status, details), inline: true });
/** Row of a temporary condition: the same request may succeed later. */
const later = <D extends z.ZodType = typeof Open>(
  status: number,
  details: D = Open as never,
  step?: string,
) => row({ status, retryable: true, next: "retry_after_backoff", details, ...(step ? { step } : {}) });
/** Row of an execution that failed. */
const failed = (status: number) =>
  row({ status, retryable: false, next: "inspect_error", details: Execution });

/** One row per code: status, retryability, next step and details, shared by HTTP, job.error, tRPC, MCP and OpenAPI. */
export const ERRORS = {
  AuthenticationFailed: stop(401),
  AuthorizationFailed: stop(403),
  CapabilityNotAllowed: stop(403),
  /** The organization reached a limit of its plan: `limit` names it, `upgrade` the plan that allows more. */
  PlanLimitReached: stop(403),
  /** The organization turned off executions that call a provider. */
  EXTERNAL_ACTIONS_DISABLED: stop(403, z.object({ upgradeUrl: z.string() })),
  CrossSiteRequest: stop(403),
  NotFound: stop(404, Open, "Check the id or name, and that you have access to it."),
  UNKNOWN_CAPABILITY: stop(
    404,
    z.object({
      nearestMatches: z.array(z.string()),
      /** Page at which an account or server that may serve this capability is connected. */
      connectUrl: z.string().optional(),
    }),
    "List the available ones with GET /v1/capabilities.",
  ),
  MethodNotAllowed: stop(405, z.object({ allow: z.array(z.string()) })),
  /** The body did not arrive in time. */
  RequestTimeout: later(408),
  Gone: stop(410),
  /** `etag` is that of the current version. */
  PreconditionFailed: stop(412, z.object({ etag: z.string() })),
  PayloadTooLarge: stop(413, z.object({ maxBytes: z.number() })),
  UnsupportedMediaType: stop(415),
  RangeNotSatisfiable: stop(416, z.object({ byteLength: z.number() })),
  /** A device is waiting for a person to approve it: ask again after `interval` seconds. */
  AuthorizationPending: later(428, z.object({ interval: z.number() })),
  RateLimited: later(429, Later),
  DURABLE_CONCURRENCY_LIMIT: later(429, Later),
  InternalFailure: { ...later(500), repeatable: false, terminal: false },

  /** Our own storage cannot be reached; no provider was called. `executionId` is that of an execution that was never sent. */
  ServiceUnavailable: {
    ...later(
      503,
      z.object({
        retryAfterSeconds: z.number(),
        executionId: z.string().optional(),
        receiptId: z.string().optional(),
      }),
    ),
    terminal: false,
  },

  InvalidRequest: stop(400),
  InvalidInput: stop(422),
  UNKNOWN_INPUT_FIELD: stop(422, z.object({ fields: z.array(z.string()), allowed: z.array(z.string()) })),
  UNKNOWN_EXECUTION_FIELD: inline(
    422,
    z.object({
      path: z.string(),
      /** The bare name of the field that was probably meant. */
      didYouMean: z.string().nullable(),
      /** The same field with its place in the body: `execution.executionConstraints.maxCostUsd`. */
      didYouMeanPath: z.string().nullable(),
      supported: z.array(z.string()),
      retryable: z.literal(false),
    }),
  ),
  CONFLICTING_EXECUTION_CONSTRAINT: stop(422, z.object({ field: z.string(), values: z.array(z.json()) })),
  PromptTooLong: inline(
    422,
    z.object({
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
  ),
  USE_JOBS: stop(400, z.object({ submit: z.string() })),
  USE_INVOKE: stop(400, z.object({ invoke: z.string() })),
  /** Required content was removed at the end of its retention, or was never stored. */
  PayloadUnavailable: stop(410),
  PolicyRejected: stop(400),
  PROJECT_REQUIRED: stop(422),
  CONNECTION_REQUIRED: stop(409, z.object({ connectUrl: z.string(), provider: z.string().optional() })),
  /** A pinned execution runs on the project's own account, never on the operator's. */
  MANAGED_PINNED_UNAVAILABLE: stop(501),
  ROUTE_UNAVAILABLE: stop(409, z.object({ alternates: z.array(z.string()) }).catchall(z.json())),
  PRICING_INPUTS_REQUIRED: stop(422, z.object({ missing: z.array(z.string()) })),
  EstimateUnavailable: stop(422),
  /** `fields`: the parts of the request that differ from the quote. */
  QUOTE_MISMATCH: stop(409, z.object({ reason: z.string(), fields: z.array(z.string()).optional() })),
  /** execution.quoteId and execution.estimateId name different quotes. */
  ESTIMATE_MISMATCH: stop(409, z.object({ field: z.string(), quoteId: z.string(), estimateId: z.string() })),
  /** The request matches the quote, but prices or routes have changed since. */
  REESTIMATE_REQUIRED: stop(
    409,
    z.object({
      reason: z.string(),
      pricingVersion: z.string(),
      quotedPricingVersion: z.string(),
      quotedMaximum: usd,
      maximum: usd,
    }),
  ),
  IdempotencyConflict: stop(
    409,
    z.object({ jobId: z.string() }),
    "Send the original body to get its result. Use a new key only to run this as a separate execution.",
  ),
  JobNotCancelable: stop(409, z.object({ status: z.string() })),
  /** `authorizedMaxAmount`: the limit of the approval, if a later one authorizes less; null for no limit. */
  JobNotAwaitingApproval: stop(
    409,
    z.object({ status: z.string(), authorizedMaxAmount: usd.nullable().optional() }),
  ),
  EndpointDisabled: stop(409, z.object({ endpointId: z.string() })),
  /** This environment of the project already uses another credential of the same provider. */
  AlreadyConnected: stop(409, z.object({ credentialId: z.string(), bindingId: z.string() })),
  /** An organization must have an owner. */
  LastOwner: stop(409),
  /** A key that no longer works, or was already replaced, cannot be rotated. */
  KeyNotRotatable: stop(409, z.object({ keyId: z.string(), replacedBy: z.string().nullable() })),
  JobNotInAttention: stop(409, z.object({ status: z.string() })),
  /** The adapter is in use by the current version of an alias, a default or a binding. */
  AdapterInUse: stop(
    409,
    z.object({
      adapterId: z.string(),
      references: z.array(z.object({ kind: z.enum(["alias", "default", "binding"]), name: z.string() })),
    }),
  ),
  /** The answer would reveal which model did the work before the comparison is judged. */
  ComparisonUnjudged: stop(409, z.object({ comparisonId: z.string() })),
  /** A comparison can be judged only once. */
  ComparisonJudged: stop(409, z.object({ comparisonId: z.string(), decision: z.string() })),
  /** The capability request's status does not allow this. */
  RequestStateConflict: stop(409, z.object({ requestId: z.string(), status: z.string() })),
  /** The hold is not ambiguous, so there is nothing to resolve. */
  HoldNotAmbiguous: stop(409, z.object({ state: z.string() })),
  RetryNotSafe: stop(409),
  EstimateExceedsMaxCost: stop(409, z.object({ authorizedMaxAmount: usd, estimatedCost: usd })),
  ApprovalRejected: stop(409, Execution),
  ApprovalExpired: stop(409, Execution),
  JobNotFinished: later(409, z.object({ status: z.string() }), "Try again when it has ended."),
  BudgetExceeded: stop(
    402,
    z.object({
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
      cheapestRoute: CheapestRoute.optional(),
    }),
  ),
  /** Neither the allowance nor the wallet covers this execution. */
  funding_required: stop(
    402,
    z.object({
      reason: z.string(),
      fundingOptions: z.array(z.string()),
      legacyCode: z.literal("billing_managed_usage_exhausted"),
      estimatedCost: usd,
      /** The most that one execution may cost now. */
      available: usd,
      cheapestRoute: CheapestRoute.optional(),
      remainingMicros: z.number(),
      trialCeilingMicros: z.number(),
      isTest: z.boolean(),
      upgradeUrl: z.string(),
    }),
  ),
  /** Payments are not set up on this deployment. */
  billing_not_configured: stop(402),

  ProviderRejected: failed(502),
  UnsupportedTld: stop(422, Execution),
  PROVIDER_EMPTY_OUTPUT: failed(502),
  PROVIDER_ERROR: failed(502),
  StructuredOutputInvalid: failed(502),
  /** The answer did not fit the schema, and neither did the one repair attempt. */
  StructuredOutputRepairFailed: failed(502),
  /** The answer has the right shape but no content. */
  EmptyStructuredOutput: failed(502),
  /** The model spent all of its output tokens on reasoning and wrote nothing. */
  ReasoningBudgetExhausted: failed(502),
  OutputLimitReached: failed(502),
  ExecutionTimeout: failed(502),
  /** The job did not end while the caller waited; it is still running. */
  JobStillRunning: { ...failed(504), terminal: false },
  TRANSPORT_AMBIGUOUS: { ...failed(502), terminal: false },
  ProviderUnavailable: { ...failed(503), retryable: true, terminal: false },
  QueueTimeout: { ...failed(502), next: "retry_new", repeatable: true },
  Cancelled: stop(409, Execution),

  invalid_expression: failed(422),
  unknown_variable: failed(422),
  unsupported_function: failed(422),
  division_by_zero: failed(422),
  numeric_overflow: failed(422),
  precision_limit_exceeded: failed(422),
  complexity_limit_exceeded: failed(422),
  invalid_variable: failed(422),
  domain_error: failed(422),
  invalid_parameter: failed(422),
} as const satisfies Record<string, Spec>;

export type ErrorCode = keyof typeof ERRORS;
type Details<C extends ErrorCode> = z.output<(typeof ERRORS)[C]["details"]>;

/** The message of an unexpected error, whose cause is in the log only. */
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
  /** Response headers, e.g. Retry-After. */
  readonly headers: Record<string, string>;
  constructor(
    readonly code: ErrorCode,
    message: string,
    details: Record<string, unknown>,
    { headers = {}, ...options }: { headers?: Record<string, string>; cause?: unknown } = {},
  ) {
    super(redactText(message), options);
    this.details = redactTokens(details);
    this.headers = headers;
  }

  get row(): Spec {
    return ERRORS[this.code];
  }
}

/** A 422 whose detail lists the problems, one entry each, with access tokens redacted. */
export class ValidationFault extends Error {
  override readonly name = "ValidationFault";
  readonly issues: ValidationIssue[];
  constructor(issues: ValidationIssue[]) {
    super();
    this.issues = redactTokens(issues);
  }

  /** Built on access, because a body may have ten thousand problems and the response lists them itself. */
  override get message(): string {
    return this.issues.map((issue) => `${issue.loc.join(".")}: ${issue.msg}`).join("; ");
  }
}

/** Matches a message that says what to do next in a sentence of its own. */
const HAS_STEP = /[.!?] \S/;

/**
 * Throws the error with this code. The message says what happened and why, then what to do next: in a sentence of its own, or in the
 * row's step. Wrong details do not compile.
 */
export function fail<C extends ErrorCode>(
  code: C,
  message: string,
  ...rest: Record<string, never> extends Details<C> ? [details?: Details<C>] : [details: Details<C>]
): never {
  const { step }: Spec = ERRORS[code];
  const whole = step && !HAS_STEP.test(message) ? `${message} ${step}` : message;
  throw new Fault(code, whole, rest[0] ?? {});
}

/** True if retrying a request that failed with this code is safe and useful. */
export function isRepeatable(code: string): boolean {
  if (!isErrorCode(code)) return false;
  const { retryable, repeatable = retryable }: Spec = ERRORS[code];
  return repeatable;
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}
