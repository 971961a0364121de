import type { Capability } from "@/server/capabilities/define";
import { access, personBehind } from "@/server/domain/access";
import { presentationFor } from "@/server/domain/billing";
import { checkGuardrail, preventingScope } from "@/server/domain/budgets";
import { isKeptSealed } from "@/server/domain/content";
import type { Ctx } from "@/server/domain/ctx";
import { checkSpendPerJob } from "@/server/domain/embeds";
import { type Envelope, enforcementOf, keptMs, maturityOf } from "@/server/domain/envelope";
import { leaseOwner } from "@/server/domain/executions";
import { keepNamed } from "@/server/domain/inputs";
import { limitOf, underOrganization } from "@/server/domain/plans";
import {
  checkQuote,
  credentialIdsOf,
  type ExecutionPlan,
  fundedFor,
  inputSources,
  planExecution,
} from "@/server/domain/quotes";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { isNameListed } from "@/server/providers/define";
import { isBeyondBounds } from "@/server/providers/priced-members";
import { joinColumns } from "@/server/sql/column";
import { approvalAtAdmission, awaitingApprovalEvent } from "../decisions/approvals";
import type { Admission } from "../transitions/admission";
import type { CanonicalRequest } from "./submission";

const QUEUE_SECONDS = 7_200;
/** A synchronous call waits this long for a provider's capacity, unless its request sets another limit. */
const CAPACITY_SECONDS = 10;
const EXECUTION_SECONDS = { fallback: 120, most: 600 };
/** A lost wake is sent again after this long; later resends back off. */
const DISPATCH_AFTER_MS = 10_000;

export type Prepared = {
  admission: Admission;
  plan: ExecutionPlan;
  /** The input as it was sent, which the receipt's input hash covers. */
  input: Record<string, Json>;
  contentKeptMs: number | null;
};

/** Finds the route and the price of a submission in the catalog. Writes nothing. */
export async function planSubmission(
  ctx: Ctx,
  { kind, capability, envelope, project, environment, conversation }: CanonicalRequest,
): Promise<ExecutionPlan> {
  if (project.refusal) throw project.refusal;
  const isFunded = await fundedFor(capability, project.organizationId, envelope);
  return planExecution(
    capability,
    { id: project.id, environment, outputsOf: access.outputsOf(ctx) },
    { ...envelope, conversation, maturity: maturityOf(envelope, project.settings), isFunded, now: ctx.now() },
    kind === "invoke" ? "sync" : "durable",
  );
}

/**
 * Plans a submission and makes every check that does not depend on other jobs. Writes nothing. Throws the
 * first refusal, such as USE_JOBS for a synchronous call that needs an approval.
 */
export async function prepare(ctx: Ctx, submission: CanonicalRequest): Promise<Prepared> {
  const { kind, capability, envelope, project } = submission;
  const plan = await planSubmission(ctx, submission);
  await checkGuardrails(ctx, submission, plan);
  const sealed = await sealedPrice(ctx, submission, plan);
  const now = ctx.now();
  const wait = approvalAtAdmission(project, plan.estimate, now);
  if (wait && kind === "invoke") {
    const submit = `/v1/capabilities/${capability.key}/jobs`;
    const why = "The estimate needs a person's approval, and only a durable job can wait for it.";
    fail("USE_JOBS", `${why} Use POST ${submit}.`, { submit });
  }
  const { retentionRequirement } = envelope.context;
  const contentKeptMs = keptMs(retentionRequirement, project.settings, limitOf(project, "historyDays"));
  const attemptId = kind === "invoke" && plan.route ? newId("attempt") : null;
  const decided: Decided = { now, wait, sealed, contentKeptMs, attemptId };
  return {
    plan,
    input: envelope.input,
    contentKeptMs,
    admission: joinColumns(
      whoAndWhat(ctx, submission),
      howItRuns(submission, plan, decided),
      whatItMayCost(submission, plan, decided),
      whatIsKept(submission, decided),
      submission.repeat,
      withEvents(submission, plan, decided),
    ),
  };
}

/** Facts about a submission that the plan does not hold. */
type Decided = {
  now: Date;
  wait: ReturnType<typeof approvalAtAdmission>;
  sealed: Awaited<ReturnType<typeof sealedPrice>>;
  contentKeptMs: number | null;
  attemptId: string | null;
};

/**
 * Refuses a plan that the guardrails of the organization or a connection, the caller's limit per job or a
 * limit set to prevent does not allow.
 */
async function checkGuardrails(ctx: Ctx, submission: CanonicalRequest, plan: ExecutionPlan): Promise<void> {
  const { project, environment } = submission;
  await checkGuardrail(project, environment, {
    ...plan.estimate,
    credentialIds: credentialIdsOf(plan.estimate),
  }).catch(async (refusal) => {
    throw await plan.suggest(refusal);
  });
  checkSpendPerJob(ctx, plan.estimate);
  await checkOpenEnded(ctx, submission, plan);
}

/**
 * The seal of the quote that the request names, or a new one; undefined if the work runs here, without a
 * route.
 */
async function sealedPrice(ctx: Ctx, { envelope, project }: CanonicalRequest, plan: ExecutionPlan) {
  const { quoteId } = envelope.execution;
  if (quoteId) return checkQuote(ctx, project.id, quoteId, plan);
  return plan.route ? { hash: await plan.sealHash(), expiresAt: null } : undefined;
}

/** Columns for the caller, the capability and the labels of the request. */
function whoAndWhat(ctx: Ctx, submission: CanonicalRequest) {
  const { kind, capability, envelope, project } = submission;
  const { dataClassification, retentionRequirement, productId } = envelope.context;
  return {
    id: newId("job"),
    project_id: project.id,
    organization_id: project.organizationId,
    environment: submission.environment,
    product_id: productId,
    principal_id: ctx.principal.id,
    principal_kind: ctx.principal.kind,
    submitted_by: personBehind(ctx.principal),
    operation: kind,
    capability_key: capability.key,
    idempotency_key: submission.key.key,
    request_hash: submission.requestHash,
    reference_hash: submission.referenceHash,
    external_ref: envelope.externalRef ?? null,
    tags: envelope.tags,
    metadata: envelope.metadata,
    correlation_id: envelope.correlationId ?? null,
    task_kind: envelope.taskKind ?? null,
    data_classification: dataClassification,
    retention_requirement: retentionRequirement,
    retry_of: submission.retryOf ?? null,
    maturity: maturityOf(envelope, project.settings),
  };
}

/** Columns for the first status, the deadlines, the first lease and the dispatch. */
function howItRuns(
  { kind, capability, envelope, project }: CanonicalRequest,
  plan: ExecutionPlan,
  { now, wait, attemptId }: Decided,
) {
  const isInvoke = kind === "invoke";
  const { route } = plan;
  const queueSeconds =
    envelope.execution.executionConstraints.queueDeadlineSeconds ??
    (isInvoke ? CAPACITY_SECONDS : (capability.durable?.defaultQueueSeconds ?? QUEUE_SECONDS));
  return {
    mode: isInvoke ? (envelope.executionMode === "Stream" ? "invoke_stream" : "invoke_sync") : "job_async",
    status: isInvoke ? "running" : wait ? "awaiting_approval" : "queued",
    provider: route?.provider.name ?? "",
    model: route?.model.id ?? "",
    is_test: route?.account === "sandbox",
    ...underOrganization(project, {
      kind: isInvoke ? "inference" : "job",
      leaves: route !== null && route.account !== "sandbox",
    }),
    queue_seconds: queueSeconds,
    queue_deadline_at: new Date(now.getTime() + queueSeconds * 1000),
    execution_seconds: executionSeconds(capability, envelope, isInvoke),
    created_at: now,
    started_at: isInvoke ? now : null,
    fence: isInvoke ? 1 : 0,
    lease_owner: isInvoke ? leaseOwner : null,
    dispatch_state: isInvoke || wait ? "none" : "pending",
    dispatch_after: new Date(now.getTime() + DISPATCH_AFTER_MS),
    requested_variants: capability.variants?.(plan.input) ?? null,
    warnings: plan.warnings,
    approval: wait?.approval ?? null,
    approval_deadline_at: wait?.deadlineAt ?? null,
    attempt_id: attemptId,
    attempt_submission: attemptId ? "ambiguous" : null,
  } as const;
}

/** Columns for the price and the hold. */
function whatItMayCost(
  { capability, envelope, project }: CanonicalRequest,
  { estimate, route, input }: ExecutionPlan,
  { sealed }: Decided,
) {
  const fx = presentationFor(project.organizationSettings);
  const sources = inputSources(capability, input);
  const isHeld = route !== null && estimate.maximumMicros > 0;
  return {
    billing_mode: estimate.billingMode,
    quote_id: envelope.execution.quoteId ?? null,
    pricing_version: estimate.pricingVersion,
    pricing: {
      ...estimate,
      ...(sealed ? { sealed } : {}),
      ...(fx ? { fx } : {}),
      // The content of these artifacts stays until the job has ended.
      ...(sources.length > 0 ? { sources: sources.map(({ artifactId }) => artifactId) } : {}),
    },
    estimated_micros: estimate.expectedMicros,
    maximum_micros: estimate.maximumMicros,
    credential_ids: credentialIdsOf(estimate),
    hold_state: isHeld ? "open" : null,
    // The statement changes this to the allowance if the balance cannot pay and the allowance can.
    hold_funding: isHeld && estimate.billingMode === "managed" ? "wallet" : null,
    budget_enforcement: enforcementOf(envelope),
  } as const;
}

/** Columns for the stored request and how long it is kept. */
function whatIsKept(
  { kind, envelope, content, contentHash }: CanonicalRequest,
  { now, contentKeptMs }: Decided,
) {
  const { dataClassification, retentionRequirement } = envelope.context;
  return {
    payload_is_sealed: isKeptSealed(dataClassification, retentionRequirement),
    payload_id: newId("payload"),
    // A synchronous run never reads its request back, so the content is not stored if only hashes are kept.
    payload_content: kind === "invoke" && retentionRequirement === "HashesOnly" ? null : content,
    payload_sha256: contentHash,
    payload_bytes: Buffer.byteLength(content),
    payload_expires_at: contentKeptMs === null ? null : new Date(now.getTime() + contentKeptMs),
  };
}

/**
 * Refuses members that may change the price if a limit set to prevent applies: a member that the connection
 * does not list by name, and a member whose effect on the price has no upper bound.
 */
async function checkOpenEnded(
  ctx: Ctx,
  { project, environment, conversation }: CanonicalRequest,
  { route, estimate }: ExecutionPlan,
): Promise<void> {
  const named = (route?.model.members ?? []).filter((name) => name !== "*");
  const members = Object.keys(conversation?.settings?.members ?? {});
  const priced = members.find(isBeyondBounds);
  const open = priced ?? members.find((name) => !isNameListed(name, named));
  if (open === undefined) return;
  const credentialIds = credentialIdsOf(estimate);
  const { billingMode } = estimate;
  const scope = await preventingScope(ctx, project, environment, { billingMode, credentialIds });
  if (scope === null) return;
  throw new ValidationFault([
    {
      loc: ["body", "conversation", "settings", "members", open],
      msg: priced
        ? `This member changes the price in a way that has no upper bound, so the "prevent" limit of ${scope} blocks it. Leave it out.`
        : `This member may change the price, so the "prevent" limit of ${scope} blocks it unless the connection lists it by name. List it there, or leave it out.`,
      type: "unsupported",
    },
  ]);
}

/**
 * Keeps the artifacts that the input names until the job's own row keeps them. Throws if one was removed
 * since planning.
 */
export const keepSources = ({ capability, project }: CanonicalRequest, { plan }: Prepared, now: Date) =>
  keepNamed(pool, project.id, inputSources(capability, plan.input), now);

function withEvents(
  { kind, capability }: CanonicalRequest,
  plan: ExecutionPlan,
  { attemptId, wait }: Decided,
) {
  const capabilityKey = capability.key;
  const events: Admission["events"] =
    kind === "invoke"
      ? [{ type: "job.started", payload: { capabilityKey, attempt: 1 } }]
      : wait
        ? [awaitingApprovalEvent(wait.approval, wait.deadlineAt)]
        : [{ type: "job.queued", payload: { capabilityKey } }];
  if (attemptId && plan.route) {
    events.push({
      type: "job.provider_submitted",
      payload: {
        provider: plan.route.provider.name,
        model: plan.route.model.id,
        attemptId,
        tier: "standard",
      },
    });
  }
  for (const warning of plan.warnings)
    if (warning.code === "BudgetExceeded") events.push({ type: "job.budget_warning", payload: warning });
  return { events, last_event: events.length };
}

function executionSeconds(capability: Capability, envelope: Envelope<"invoke">, isInvoke: boolean): number {
  const asked = envelope.execution.executionConstraints.maxDurationSeconds;
  if (isInvoke) return syncSeconds(capability, asked);
  const most = capability.durable?.maxExecutionSeconds ?? EXECUTION_SECONDS.most;
  if (asked && asked > most) throw tooLong(capability, most);
  return asked ?? capability.durable?.defaultExecutionSeconds ?? EXECUTION_SECONDS.fallback;
}

/**
 * A synchronous run is for short answers. A longer limit throws USE_JOBS if the capability has durable runs,
 * otherwise a validation error.
 */
function syncSeconds(capability: Capability, asked: number | null | undefined): number {
  const most = capability.sync?.seconds ?? 60;
  if (!asked || asked <= most) return asked ?? most;
  if (capability.modes.includes("job_async")) {
    const submit = `/v1/capabilities/${capability.key}/jobs`;
    fail("USE_JOBS", `A synchronous run can take at most ${most} seconds. Use POST ${submit} for more.`, {
      submit,
    });
  }
  throw tooLong(capability, most);
}

const tooLong = ({ key }: Capability, most: number) =>
  new ValidationFault([
    {
      loc: ["body", "execution", "executionConstraints", "maxDurationSeconds"],
      msg: `At most ${most} seconds for ${key}.`,
      type: "less_than_equal",
      ctx: { maximum: most },
    },
  ]);
