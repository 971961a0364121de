import { canonicalText, sha256Hex } from "@/server/canonical";
import type { Capability } from "@/server/capabilities/define";
import { isKeptSealed } from "@/server/content";
import type { RawEnvelope } from "@/server/contract/envelope";
import type { Job } from "@/server/contract/jobs";
import { pool } from "@/server/db";
import { access, type ProjectAccess, personBehind } from "@/server/domain/access";
import { LEASE_MS, leaseOwner } from "@/server/domain/attempts";
import { presentationFor } from "@/server/domain/billing";
import { checkGuardrail } from "@/server/domain/budgets";
import { getCapability } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import {
  type Envelope,
  enforcementOf,
  keptMs,
  maturityOf,
  normalizeEnvelope,
  settleIdempotencyKey,
} from "@/server/domain/envelope";
import { checkSpendPerJob, inputOf, ownKeyOf } from "@/server/domain/panels";
import { limitOf, underOrganization } from "@/server/domain/plans";
import {
  checkQuote,
  credentialIdsOf,
  type ExecutionPlan,
  fundedFor,
  planExecution,
} from "@/server/domain/quotes";
import { fail, ValidationFault } from "@/server/errors";
import { newId } from "@/server/ids";
import type { Json } from "@/server/step";
import { approvalAtAdmission, toldOfWait } from "./approvals";
import { get } from "./get";
import type { JobRow, PayloadRow } from "./rows";
import { type Admission, type Admitted, firstOfKey, insertAdmitted } from "./transitions/admission";
import { toJob } from "./view";

const MOST_UNFINISHED = 10_000;
const QUEUE_SECONDS = 7_200;
const EXECUTION_SECONDS = { fallback: 120, most: 600 };
/** A wake that was lost is sent again after this long; later ones back off. */
export const DISPATCH_AFTER_MS = 10_000;

type Kind = "jobs" | "invoke";

/** A request in its one normal form, and where it belongs. */
export type Submission = {
  kind: Kind;
  capability: Capability;
  envelope: Envelope<"invoke">;
  project: ProjectAccess;
  environment: string;
  idempotencyKey: string;
  /** The canonical request and its hash: what is compared under one key. */
  content: string;
  contentHash: string;
  requestHash: string;
  /** The job this one is a retry of. */
  retryOf?: string | null;
};

export type Prepared = {
  admission: Admission;
  plan: ExecutionPlan;
  /** As it was sent: what the receipt's input hash is of. */
  input: Record<string, Json>;
  contentKeptMs: number | null;
};

/** Admitted just now. */
export type Fresh = Prepared & Admitted;

/**
 * Admits a submission, or finds what its key already stands for (`fresh` is null then). What was admitted once stays
 * admitted: a quote that expired or a route that went away refuses no replay. The same key with another request is
 * IdempotencyConflict with the first job's id.
 */
export async function admit(
  ctx: Ctx,
  kind: Kind,
  capability: Capability,
  raw: RawEnvelope,
  idempotencyHeader: string | undefined,
  retryOf: string | null = null,
): Promise<{ jobId: string; fresh: Fresh | null }> {
  const submission = { ...(await read(ctx, kind, capability, raw, idempotencyHeader)), retryOf };
  if (recent.has(keyOf(submission))) {
    const first = await findFirst(submission);
    if (first?.request_hash === submission.requestHash) return { jobId: first.id, fresh: null };
  }
  let prepared: Prepared;
  try {
    prepared = await prepare(ctx, submission);
    if (kind === "jobs") await refuseOverload(submission.project.id, ctx.now().getTime());
  } catch (refusal) {
    const first = await findFirst(submission);
    if (first?.request_hash !== submission.requestHash) throw refusal;
    return { jobId: first.id, fresh: null };
  }
  const admitted = await insertAdmitted(prepared.admission);
  if (recent.size >= MOST_RECENT) recent.clear();
  recent.add(keyOf(submission));
  if (admitted) return { jobId: prepared.admission.id, fresh: told(prepared, admitted) };
  const first = await findFirst(submission);
  if (!first) throw new Error("an idempotency key was taken, but its job is not there");
  if (first.request_hash !== submission.requestHash) {
    fail("IdempotencyConflict", "This idempotency key already stands for another request.", {
      jobId: first.id,
    });
  }
  return { jobId: first.id, fresh: null };
}

/** With what the statement added to the row: warnings of stored budgets, and their events. */
function told(prepared: Prepared, admitted: Admitted): Fresh {
  const { budgetWarnings } = admitted;
  if (budgetWarnings.length === 0) return { ...prepared, ...admitted };
  const { admission, plan } = prepared;
  const warnings = [...plan.warnings, ...budgetWarnings];
  const last_event = admission.last_event + budgetWarnings.length;
  return {
    ...prepared,
    ...admitted,
    plan: { ...plan, warnings },
    admission: { ...admission, warnings, last_event },
  };
}

/** Keys this process has seen taken: a hint to look before planning. The database alone decides. */
const recent = new Set<string>();
const MOST_RECENT = 50_000;

const keyOf = ({ project, kind, idempotencyKey }: Submission) => `${project.id} ${kind} ${idempotencyKey}`;

/** What a key stands for already, if anything. */
const findFirst = ({ project, kind, idempotencyKey }: Submission) =>
  firstOfKey({ projectId: project.id, operation: kind, key: idempotencyKey });

/** Reads a request: its envelope in one shape, its project, its place in idempotency. */
export async function read(
  ctx: Ctx,
  kind: Kind,
  capability: Capability,
  raw: RawEnvelope,
  idempotencyHeader: string | undefined,
): Promise<Submission> {
  const envelope = normalizeEnvelope(kind, raw) as Envelope<"invoke">; // the job envelope is this one less executionMode
  if (envelope.executionMode === "ProductionWorkflow")
    refuse("executionMode", "ProductionWorkflow is not offered.");
  checkMode(kind, capability, envelope);
  const idempotencyKey = ownKeyOf(
    ctx,
    settleIdempotencyKey(kind, envelope.idempotencyKey, idempotencyHeader),
  );
  const project = await access.project(ctx, envelope.context.projectId, "capabilities:run");
  const environment = access.environment(ctx, project, envelope.context.environment);
  envelope.input = await inputOf(ctx, capability.key, project, envelope, raw.input !== undefined);
  checkReader(kind, capability, envelope);
  const content = canonicalText(snapshotOf(capability.key, envelope, project.id, environment));
  const contentHash = sha256Hex(content);
  return {
    kind,
    capability,
    envelope,
    project,
    environment,
    idempotencyKey,
    content,
    contentHash,
    requestHash: `v1:${contentHash}`,
  };
}

/** Reads a submission against the catalog: where it would run, and for how much. Writes nothing. */
export async function planSubmission(
  ctx: Ctx,
  { kind, capability, envelope, project, environment }: Submission,
): Promise<ExecutionPlan> {
  const isFunded = await fundedFor(capability, project.organizationId, envelope);
  return planExecution(
    capability,
    { id: project.id, environment },
    { ...envelope, maturity: maturityOf(envelope, project.settings), isFunded, now: ctx.now() },
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
  });
  checkSpendPerJob(ctx, plan.estimate);
  const { quoteId } = envelope.execution;
  const fx = presentationFor(project.organizationSettings);
  const sealed = quoteId
    ? await checkQuote(ctx, project.id, quoteId, plan)
    : plan.route
      ? { hash: plan.seal().hash, expiresAt: null }
      : undefined;

  const now = ctx.now();
  const queueSeconds =
    envelope.execution.executionConstraints.queueDeadlineSeconds ??
    capability.durable?.defaultQueueSeconds ??
    QUEUE_SECONDS;
  const isInvoke = kind === "invoke";
  const { estimate, route } = plan;
  const wait = approvalAtAdmission(project, estimate, now);
  if (wait && isInvoke) {
    const submit = `/v1/capabilities/${capability.key}/jobs`;
    fail(
      "USE_JOBS",
      `The estimate needs a person's approval, which only a durable job can wait for: POST ${submit}.`,
      {
        submit,
      },
    );
  }
  const id = newId("job");
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
      pricing: { ...estimate, ...(sealed ? { sealed } : {}), ...(fx ? { fx } : {}) },
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
      requested_variants: capability.variants?.(plan.input as never) ?? null, // parsed by this capability's own schema
      warnings: plan.warnings,
      approval: (wait?.approval ?? null) as unknown as Json, // plain data
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
      hold_id: route && estimate.maximumMicros > 0 ? newId("hold") : null,
      budget_enforcement: enforcementOf(envelope),
      is_test: route?.account === "sandbox",
      ...underOrganization(project, {
        kind: isInvoke ? "inference" : "job",
        leaves: route !== null && route.account !== "sandbox",
      }),
      attempt_id: attemptId,
      attempt_submission: attemptId ? "ambiguous" : null,
      ...withEvents(capability.key, plan, isInvoke, attemptId, wait),
    },
  };
}

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
      ? [toldOfWait(wait.approval, wait.deadlineAt)]
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

/** The canonical submitted request: what is hashed, compared under one idempotency key, and kept as the snapshot. */
function snapshotOf(
  capabilityKey: string,
  envelope: Envelope<"invoke">,
  projectId: string,
  environment: string,
): Record<string, Json> {
  const {
    idempotencyKey: _key,
    // The same content by reference is the same request.
    inputPayloadRef: _ref,
    execution,
    context,
    executionMode,
    sampling,
    budget,
    ...rest
  } = envelope;
  const { quoteId: _quote, estimateId: _estimate, executionConstraints, ...options } = execution;
  const snapshot: Record<string, unknown> = {
    capability: capabilityKey,
    ...given(rest),
    ...(sampling ? { sampling: given(sampling) } : {}),
    ...(budget ? { budget: given(budget) } : {}),
    // Another answer is another request; to name the usual one or not is the same.
    ...(executionMode === "Stream" ? { executionMode } : {}),
    context: { ...context, projectId, environment },
    execution: { ...given(options), executionConstraints: given(executionConstraints) },
  };
  return snapshot as Record<string, Json>; // parsed JSON
}

/** Fields without those that are null or absent, which mean the same. */
function given(fields: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name in fields) {
    if (fields[name] !== undefined && fields[name] !== null) kept[name] = fields[name];
  }
  return kept;
}

const refuse = (field: string, msg: string): never => {
  throw new ValidationFault([{ loc: ["body", field], msg, type: "unsupported" }]);
};

/** Partial output is of a durable job that writes plain text: what a schema or a tool shapes is known at its end only. */
function checkReader(kind: Kind, capability: Capability, envelope: Envelope<"invoke">) {
  if (!envelope.readerDelivery) return;
  const only = (what: string) => refuse("readerDelivery", `Partial output is ${what}.`);
  if (kind === "invoke")
    only(`of durable jobs; use POST /v1/capabilities/${capability.key}/jobs, or executionMode Stream`);
  if (!capability.key.startsWith("text.") || capability.outputKind !== "text")
    only(`of capabilities that write plain text; ${capability.key} does not`);
  if (envelope.responseSchema || envelope.input.responseSchema)
    only("not given together with a responseSchema");
  if (envelope.toolSchemas?.length) only("not given together with toolSchemas");
}

/** Refuses a capability that has no durable runs. */
export function requireDurable({ key, modes }: Capability) {
  const invoke = `/v1/capabilities/${key}/invoke`;
  if (!modes.includes("job_async"))
    fail("USE_INVOKE", `${key} runs at once; use POST ${invoke}.`, { invoke });
}

function checkMode(kind: "jobs" | "invoke", capability: Capability, envelope: Envelope<"invoke">) {
  const submit = `/v1/capabilities/${capability.key}/jobs`;
  if (kind === "jobs") requireDurable(capability);
  if (kind === "invoke") {
    if (!capability.modes.includes("invoke_sync"))
      fail("USE_JOBS", `${capability.key} runs as a durable job; use POST ${submit}.`, { submit });
    if (envelope.executionMode === "DurableJob")
      fail("USE_JOBS", `A durable run goes through POST ${submit}.`, { submit });
    if (envelope.executionMode === "Stream" && !capability.modes.includes("invoke_stream")) {
      refuse("executionMode", `${capability.key} does not stream.`);
    }
  }
}

function executionSeconds(capability: Capability, envelope: Envelope<"invoke">, isInvoke: boolean): number {
  const asked = envelope.execution.executionConstraints.maxDurationSeconds;
  if (isInvoke) return syncSeconds(capability, asked);
  const most = capability.durable?.maxExecutionSeconds ?? EXECUTION_SECONDS.most;
  if (asked && asked > most) {
    throw new ValidationFault([
      {
        loc: ["body", "execution", "executionConstraints", "maxDurationSeconds"],
        msg: `At most ${most} seconds for ${capability.key}.`,
        type: "less_than_equal",
      },
    ]);
  }
  return asked ?? capability.durable?.defaultExecutionSeconds ?? EXECUTION_SECONDS.fallback;
}

/** A synchronous run is for short answers: who wants to wait longer is sent to jobs, where there are any. */
function syncSeconds(capability: Capability, asked: number | null | undefined): number {
  const most = capability.sync?.seconds ?? 60;
  if (!asked || asked <= most) return asked ?? most;
  if (capability.modes.includes("job_async")) {
    const submit = `/v1/capabilities/${capability.key}/jobs`;
    fail("USE_JOBS", `A synchronous run takes at most ${most} seconds; use POST ${submit} for more.`, {
      submit,
    });
  }
  throw new ValidationFault([
    {
      loc: ["body", "execution", "executionConstraints", "maxDurationSeconds"],
      msg: `At most ${most} seconds for ${capability.key}.`,
      type: "less_than_equal",
      ctx: { maximum: most },
    },
  ]);
}

/** Admits a durable job: one statement writes key, job, hold, first event and dispatch. */
export async function submit(
  ctx: Ctx,
  capabilityKey: string,
  raw: RawEnvelope,
  idempotencyHeader?: string,
): Promise<Job> {
  return admitDurable(ctx, getCapability(capabilityKey), raw, idempotencyHeader, null);
}

export async function admitDurable(
  ctx: Ctx,
  capability: Capability,
  raw: RawEnvelope,
  idempotencyHeader: string | undefined,
  retryOf: string | null,
): Promise<Job> {
  const { jobId, fresh } = await admit(ctx, "jobs", capability, raw, idempotencyHeader, retryOf);
  if (!fresh) return get(ctx, jobId, "capabilities:run");
  return toFreshJob(fresh.admission, ctx.now());
}

/** A job row as its admission made it: spares reading back what was just written. */
export function toRow(admission: Admission): JobRow {
  return {
    ...admission, // with more than the row has, since picking forty columns costs more than it saves
    actual_micros: null,
    completed_at: null,
    completed_variants: 0,
    failed_variants: 0,
    selected_artifact_id: null,
    artifact_count: 0,
    progress: null,
    attention: null,
    error_code: null,
    error: null,
    receipt_id: null,
    comparison_id: null,
    is_blind: false,
    metadata: admission.metadata as JobRow["metadata"], // an object by its schema
    maturity: admission.maturity as JobRow["maturity"], // likewise
    warnings: admission.warnings as JobRow["warnings"], // written from this very type
    pricing: admission.pricing as unknown as JobRow["pricing"], // written from this very type
    approval: admission.approval as unknown as JobRow["approval"], // likewise
    billing_mode: admission.billing_mode as JobRow["billing_mode"], // likewise
  };
}

/** The answer to a submission that was just admitted, without reading back what was written. */
function toFreshJob(admission: Admission, now: Date): Job {
  const request: PayloadRow = {
    id: admission.payload_id,
    kind: "request",
    content: admission.payload_content,
    is_sealed: false,
    sha256: admission.payload_sha256,
  };
  return toJob(
    toRow(admission),
    { attempt: null, artifacts: [], payloads: [request], sealed: null, resolution: null },
    now,
  );
}

const unfinished = new Map<string, { count: number; countedAt: number }>();

/** Refuses above 10,000 unfinished jobs of a project; counted at most once a second per process, so a little late. */
export async function refuseOverload(projectId: string, nowMs: number) {
  let known = unfinished.get(projectId);
  if (!known || nowMs - known.countedAt > 1000 || nowMs < known.countedAt) {
    const { rows } = await pool.query<{ count: number }>({
      name: "count-unfinished",
      text: "SELECT count(*) AS count FROM job WHERE project_id = $1 AND status IN ('queued', 'running', 'awaiting_approval', 'canceling', 'needs_attention')",
      values: [projectId],
    });
    known = { count: rows[0]?.count ?? 0, countedAt: nowMs };
    if (unfinished.size > 10_000) unfinished.clear();
    unfinished.set(projectId, known);
  }
  known.count++;
  if (known.count > MOST_UNFINISHED) {
    fail(
      "DURABLE_CONCURRENCY_LIMIT",
      `This project has ${MOST_UNFINISHED} unfinished jobs; wait for some to end.`,
      {
        current: known.count - 1,
        limit: MOST_UNFINISHED,
      },
    );
  }
}
