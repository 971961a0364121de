import type { Capability } from "@/server/capabilities/define";
import { access, personBehind } from "@/server/domain/access";
import { presentationFor } from "@/server/domain/billing";
import { checkGuardrail, preventingScope } from "@/server/domain/budgets";
import { isKeptSealed } from "@/server/domain/content";
import type { Ctx } from "@/server/domain/ctx";
import { checkSpendPerJob } from "@/server/domain/embeds";
import { type Envelope, enforcementOf, keptMs, maturityOf } from "@/server/domain/envelope";
import { LEASE_MS, leaseOwner } from "@/server/domain/executions";
import { keepNamed } from "@/server/domain/inputs";
import { limitOf, underOrganization } from "@/server/domain/plans";
import {
  checkQuote,
  credentialIdsOf,
  type ExecutionPlan,
  fundedFor,
  planExecution,
  sourcesOf,
} from "@/server/domain/quotes";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { isListed } from "@/server/providers/define";
import { approvalAtAdmission, awaitingApprovalEvent } from "../decisions/approvals";
import type { Admission } from "../transitions/admission";
import type { Submission } from "./submission";

const QUEUE_SECONDS = 7_200;
/** A synchronous caller waits no longer than this for a provider's capacity, unless its request says so. */
const CAPACITY_SECONDS = 10;
const EXECUTION_SECONDS = { fallback: 120, most: 600 };
/** A wake that was lost is sent again after this long; later ones back off. */
const DISPATCH_AFTER_MS = 10_000;

export type Prepared = {
  admission: Admission;
  plan: ExecutionPlan;
  /** As it was sent: what the receipt's input hash is of. */
  input: Record<string, Json>;
  contentKeptMs: number | null;
};

/** Reads a submission against the catalog: where it would run, and for how much. Writes nothing. */
export async function planSubmission(
  ctx: Ctx,
  { kind, capability, envelope, project, environment, conversation }: Submission,
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

/** Plans a submission: everything about its content that may refuse it. Writes nothing. */
export async function prepare(ctx: Ctx, submission: Submission): Promise<Prepared> {
  const { kind, capability, envelope, project, environment, idempotencyKey, content, contentHash } =
    submission;
  const plan = await planSubmission(ctx, submission);
  await checkGuardrail(project, environment, {
    ...plan.estimate,
    credentialIds: credentialIdsOf(plan.estimate),
  }).catch(async (refusal) => {
    throw await plan.suggest(refusal);
  });
  checkSpendPerJob(ctx, plan.estimate);
  await checkOpenEnded(ctx, submission, plan);
  const { quoteId } = envelope.execution;
  const fx = presentationFor(project.organizationSettings);
  const sealed = quoteId
    ? await checkQuote(ctx, project.id, quoteId, plan)
    : plan.route
      ? { hash: (await plan.seal()).hash, expiresAt: null }
      : undefined;

  const now = ctx.now();
  const sources = sourcesOf(capability, plan.input);
  const isInvoke = kind === "invoke";
  const queueSeconds =
    envelope.execution.executionConstraints.queueDeadlineSeconds ??
    (isInvoke ? CAPACITY_SECONDS : (capability.durable?.defaultQueueSeconds ?? QUEUE_SECONDS));
  const { estimate, route } = plan;
  const wait = approvalAtAdmission(project, estimate, now);
  if (wait && isInvoke) {
    const submit = `/v1/capabilities/${capability.key}/jobs`;
    const why = "The estimate needs a person's approval, and only a durable job can wait for it.";
    fail("USE_JOBS", `${why} Use POST ${submit}.`, { submit });
  }
  const id = newId("job");
  const isHeld = route !== null && estimate.maximumMicros > 0;
  const attemptId = isInvoke && route ? newId("attempt") : null;
  const { dataClassification, retentionRequirement } = envelope.context;
  const contentKeptMs = keptMs(retentionRequirement, project.settings, limitOf(project, "historyDays"));
  return {
    plan,
    input: envelope.input,
    contentKeptMs,
    admission: {
      id,
      project_id: project.id,
      organization_id: project.organizationId,
      environment,
      product_id: envelope.context.productId,
      principal_id: ctx.principal.id,
      principal_kind: ctx.principal.kind,
      operation: kind,
      mode: isInvoke ? (envelope.executionMode === "Stream" ? "invoke_stream" : "invoke_sync") : "job_async",
      capability_key: capability.key,
      status: isInvoke ? "running" : wait ? "awaiting_approval" : "queued",
      idempotency_key: idempotencyKey,
      request_hash: submission.requestHash,
      reference_hash: submission.referenceHash,
      external_ref: envelope.externalRef ?? null,
      tags: envelope.tags,
      metadata: envelope.metadata,
      correlation_id: envelope.correlationId ?? null,
      task_kind: envelope.taskKind ?? null,
      data_classification: dataClassification,
      retention_requirement: retentionRequirement,
      billing_mode: estimate.billingMode,
      provider: route?.provider.name ?? "",
      model: route?.model.id ?? "",
      quote_id: quoteId ?? null,
      pricing_version: estimate.pricingVersion,
      pricing: {
        ...estimate,
        ...(sealed ? { sealed } : {}),
        ...(fx ? { fx } : {}),
        // Whose content stays until the job has ended.
        ...(sources.length > 0 ? { sources: sources.map(({ artifactId }) => artifactId) } : {}),
      },
      estimated_micros: estimate.expectedMicros,
      maximum_micros: estimate.maximumMicros,
      queue_seconds: queueSeconds,
      queue_deadline_at: new Date(now.getTime() + queueSeconds * 1000),
      execution_seconds: executionSeconds(capability, envelope, isInvoke),
      created_at: now,
      started_at: isInvoke ? now : null,
      fence: isInvoke ? 1 : 0,
      lease_owner: isInvoke ? leaseOwner : null,
      lease_until: isInvoke ? new Date(now.getTime() + LEASE_MS) : null,
      dispatch_state: isInvoke || wait ? "none" : "pending",
      dispatch_after: new Date(now.getTime() + DISPATCH_AFTER_MS),
      requested_variants: capability.variants?.(plan.input) ?? null,
      warnings: plan.warnings,
      approval: wait?.approval ?? null,
      approval_deadline_at: wait?.deadlineAt ?? null,
      submitted_by: personBehind(ctx.principal),
      retry_of: submission.retryOf ?? null,
      maturity: maturityOf(envelope, project.settings),
      payload_is_sealed: isKeptSealed(dataClassification, retentionRequirement),
      payload_id: newId("payload"),
      // What runs at once is never read back: where nothing is to be kept, nothing is written.
      payload_content: isInvoke && retentionRequirement === "HashesOnly" ? null : content,
      payload_sha256: contentHash,
      payload_bytes: Buffer.byteLength(content),
      payload_expires_at: contentKeptMs === null ? null : new Date(now.getTime() + contentKeptMs),
      credential_ids: credentialIdsOf(estimate),
      hold_state: isHeld ? "open" : null,
      // What the balance cannot pay and the allowance can is said by the statement.
      hold_funding: isHeld && estimate.billingMode === "managed" ? "wallet" : null,
      budget_enforcement: enforcementOf(envelope),
      is_test: route?.account === "sandbox",
      ...underOrganization(project, {
        kind: isInvoke ? "inference" : "job",
        leaves: route !== null && route.account !== "sandbox",
      }),
      attempt_id: attemptId,
      attempt_submission: attemptId ? "ambiguous" : null,
      ...submission.repeat,
      ...withEvents(capability.key, plan, isInvoke, attemptId, wait),
    },
  };
}

/** A member that a server takes only because it takes any may change the price: it is refused where a ceiling prevents. */
async function checkOpenEnded(
  ctx: Ctx,
  { project, environment, conversation }: Submission,
  { route, estimate }: ExecutionPlan,
): Promise<void> {
  const named = (route?.model.members ?? []).filter((name) => name !== "*");
  const open = Object.keys(conversation?.settings?.members ?? {}).find((name) => !isListed(name, named));
  if (open === undefined) return;
  const credentialIds = credentialIdsOf(estimate);
  const { billingMode } = estimate;
  const scope = await preventingScope(ctx, project, environment, { billingMode, credentialIds });
  if (scope === null) return;
  throw new ValidationFault([
    {
      loc: ["body", "conversation", "settings", "members", open],
      msg: `This member may change the price, so the "prevent" limit of ${scope} blocks it unless the connection lists it by name. List it there, or leave it out.`,
      type: "unsupported",
    },
  ]);
}

/** What its input names stays until its own row keeps it. Refuses what was removed since it was planned. */
export const keepSources = ({ capability, project }: Submission, { plan }: Prepared, now: Date) =>
  keepNamed(pool, project.id, sourcesOf(capability, plan.input), now);

function withEvents(
  capabilityKey: string,
  plan: ExecutionPlan,
  isInvoke: boolean,
  attemptId: string | null,
  wait: ReturnType<typeof approvalAtAdmission>,
) {
  const events: Admission["events"] = isInvoke
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
  for (const warning of plan.warnings) events.push({ type: "job.budget_warning", payload: warning });
  return { events, last_event: events.length };
}

function executionSeconds(capability: Capability, envelope: Envelope<"invoke">, isInvoke: boolean): number {
  const asked = envelope.execution.executionConstraints.maxDurationSeconds;
  if (isInvoke) return syncSeconds(capability, asked);
  const most = capability.durable?.maxExecutionSeconds ?? EXECUTION_SECONDS.most;
  if (asked && asked > most) throw tooLong(capability, most);
  return asked ?? capability.durable?.defaultExecutionSeconds ?? EXECUTION_SECONDS.fallback;
}

/** A synchronous run is for short answers: who wants to wait longer is sent to jobs, where there are any. */
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
