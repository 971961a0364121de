/*
 * Words and limits of the contract that the panel needs before a form opens. They are plain values because importing
 * zod with the schemas would weigh more than the page.
 */

export const JOB_STATUSES = [
  "queued",
  "running",
  "awaiting_approval",
  "succeeded",
  "failed",
  "canceling",
  "canceled",
  "needs_attention",
] as const;

/** Statuses that never change again. */
export const TERMINAL: readonly (typeof JOB_STATUSES)[number][] = ["succeeded", "failed", "canceled"];

export const JOB_OUTCOMES = ["failed", "reusable"] as const;

/** In descending order of rights. */
export const ROLES = ["owner", "admin", "member", "viewer"] as const;

export const SCOPES = [
  "capabilities:run",
  "jobs:read",
  "jobs:write",
  "pinned:run",
  "provenance:write",
  "requests:write",
  "adapters:write",
  "webhooks:write",
  "diagnostics:read",
  "billing:read",
  "approvals:write",
  "credentials:write",
  "budgets:write",
  "keys:write",
  "settings:write",
] as const;

/** Scopes that a management key can have. */
export const MANAGEMENT_SCOPES = [
  "budgets:write",
  "keys:write",
  "credentials:write",
  "webhooks:write",
  "settings:write",
] as const satisfies readonly (typeof SCOPES)[number][];

/** Scopes that a management key can grant. */
export const RUN_SCOPES = [
  "capabilities:run",
  "jobs:read",
  "jobs:write",
  "pinned:run",
  "provenance:write",
  "requests:write",
  "adapters:write",
  "diagnostics:read",
  "billing:read",
] as const satisfies readonly (typeof SCOPES)[number][];

/** Scopes that keys other than management keys can have. */
export const KEY_SCOPES = [
  ...RUN_SCOPES,
  "webhooks:write",
  "approvals:write",
  "credentials:write",
] as const satisfies readonly (typeof SCOPES)[number][];

export const BULK_ITEM_STATUSES = [
  "queued",
  "running",
  "succeeded",
  "failed",
  "ambiguous",
  "canceled",
] as const;

export const BILLING_CURRENCIES = ["USD", "CAD"] as const;

export const USAGE_GROUPS = ["capability", "provider", "key"] as const;

export const COMPARISON_INTENTS = ["exploratory", "production_decision", "golden_regression"] as const;

export const COMPARISON_STATUSES = ["running", "completed", "partial", "failed"] as const;

export const PRICING_DISPLAYS = ["hidden", "total", "breakdown"] as const;

export const EMBED_SESSION_STATUSES = ["active", "expired", "revoked"] as const;

export const REQUEST_STATUSES = [
  "draft",
  "submitted",
  "in_review",
  "needs_information",
  "quoted",
  "declined",
  "paid",
  "fulfilled",
  "refunded",
] as const;

export const RUNTIME_PRICING_MODES = ["free", "fixed", "metered", "hybrid"] as const;

export const BUDGET_PERIODS = ["day", "month", "total"] as const;

export const BUDGET_ENFORCEMENTS = ["off", "warn", "prevent"] as const;

export const JOB_EVENT_TYPES = [
  "job.queued",
  "job.started",
  "job.progress",
  "job.provider_submitted",
  "job.reader_text",
  "job.artifact_stored",
  "job.awaiting_approval",
  "job.approved",
  "job.rejected",
  "job.cancel_requested",
  "job.variant_selected",
  "job.budget_warning",
  "job.retry_scheduled",
  "job.succeeded",
  "job.failed",
  "job.canceled",
  "job.needs_attention",
  "job.receipt_sealed",
] as const;

export const REQUEST_EVENT_TYPES = [
  "capability_request.created",
  "capability_request.revised",
  "capability_request.submitted",
  "capability_request.in_review",
  "capability_request.needs_information",
  "capability_request.declined",
  "capability_request.quoted",
  "capability_request.quote_expiring",
  "capability_request.paid",
  "capability_request.fulfilled",
  "capability_request.refunded",
  "capability_request.refund_failed",
] as const;

/** Every event type that a webhook endpoint can subscribe to. */
export const EVENT_TYPES = [
  ...JOB_EVENT_TYPES,
  ...REQUEST_EVENT_TYPES,
  "budget.alert",
  "hold.written_off",
] as const;

export const DELIVERY_STATES = ["pending", "delivering", "succeeded", "failed", "disabled"] as const;

export const LICENSE_STATUSES = ["unknown", "declared", "verified"] as const;

export const SOURCE_HEALTHS = ["healthy", "degraded", "missing", "unknown"] as const;

export const DATA_CLASSES = [
  "Public",
  "Internal",
  "Confidential",
  "PrivateUserContent",
  "Manuscript",
] as const;

const CONFIDENTIAL: readonly string[] = [
  "PrivateUserContent",
  "Manuscript",
] satisfies (typeof DATA_CLASSES)[number][];
/** Is content of this class private? Private content is stored encrypted and shown only on request. */
export const isPrivate = (dataClassification: string) => CONFIDENTIAL.includes(dataClassification);

export const FEWEST_COMPETITORS = 2;
export const MOST_COMPETITORS = 4;

/** Amounts in micros of US dollars that a top-up page can offer by name. */
export const TOP_UP_PRESETS = {
  usd_10: 10_000_000,
  usd_25: 25_000_000,
  usd_50: 50_000_000,
  usd_100: 100_000_000,
} as const;

/** Events of a streamed execution: text arrives in `token`, and one of the last two ends the stream. */
export const FRAME_EVENTS = [
  "execution.started",
  "token",
  "usage",
  "execution.succeeded",
  "execution.failed",
] as const;
