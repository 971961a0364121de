import type { PinnedRequest } from "@/server/contract/pinned";
import type { PinnedAnswer, PinnedRecord } from "@/server/contract/pinned-records";
import { access, type DeferredAccess, EVERYTHING, personBehind } from "@/server/domain/access";
import { OUTPUT_REMOVED } from "@/server/domain/content";
import type { Ctx } from "@/server/domain/ctx";
import { admitOnce, enforcementOf, type SentKey, settleKey } from "@/server/domain/envelope";
import {
  awaitFirst,
  type Clock,
  clockOf,
  failUnknown,
  faultOf,
  leaseOwner,
  nextStepOf,
  pinLeases,
  unsentFault,
  visibleProviderMessage,
  withSaid,
} from "@/server/domain/executions";
import { underOrganization } from "@/server/domain/plans";
import type { Json } from "@/server/platform/durable/step";
import { Fault } from "@/server/platform/errors/errors";
import { isDatabaseOutage } from "@/server/platform/errors/outage";
import { newId, receiptIdOf } from "@/server/platform/ids";
import { failpoint } from "@/server/platform/settings/failpoint";
import { sha256Hex } from "@/server/platform/text/canonical";
import { LARGE, turn } from "@/server/platform/time/turn";
import { recordOf } from "./end";
import { correctUnsentPin } from "./never-sent";
import { keptUnder, type Planned, planPinned } from "./planning/plan";
import { identityHashOf, parsePinned, requestHasher } from "./planning/request";
import { refuseUnapproved } from "./planning/threshold";
import { endOf, wholeRecord } from "./read";
import { type PinnedAttemptRow, type PinnedRow, submissionOf } from "./rows";
import { insertPinned, type PinnedAdmission, pinsOfKey } from "./transitions";
import { execute } from "./turn";

/** The right to run pinned executions. */
export const RUN = "pinned:run";

type Wanted = {
  project: DeferredAccess;
  environment: string;
  request: PinnedRequest;
  /** Null if the caller sent none: a repost is then a new request. */
  key: SentKey | null;
  identityHash: string;
};

/**
 * Runs one pinned request and answers when it has ended. Its maximum cost is reserved and its submission
 * stored before the first byte can leave; its record is stored before the answer. A failure is an error that
 * names the record. The same key and request answer with the first execution, waiting while it runs.
 */
export async function run(
  ctx: Ctx,
  raw: Record<string, Json>,
  idempotencyHeader?: string | SentKey,
  clock = clockOf(ctx),
): Promise<PinnedAnswer> {
  const wanted = await read(ctx, raw, idempotencyHeader);
  const { request, project, environment, key, identityHash: hash } = wanted;
  let pinnedId: string | null = null;
  const admitted = await admitOnce(
    { key, hash, environment },
    (spellings) => pinsOfKey({ projectId: project.id, spellings }),
    async (spelling) => {
      if (project.refusal) throw project.refusal;
      const planned = await planPinned(request, request.input, project, environment);
      const admission = await admissionOf(ctx, wanted, planned, spelling);
      pinnedId = admission.id;
      const added = await insertPinned(admission);
      return added && { planned, admission, ...added };
    },
  ).catch((cause) => {
    throw pinnedId !== null && isDatabaseOutage(cause) ? unanswered(clock, pinnedId) : cause;
  });
  // The insert was sent twice, because the answer to the first was lost.
  if ("first" in admitted && admitted.first.id === pinnedId) throw unanswered(clock, pinnedId);
  if ("first" in admitted) return replay(admitted.first.id, clock);
  failpoint("after-admission");
  const { planned, admission, budgetWarnings } = admitted.fresh;
  const warnings = [...admission.warnings, ...budgetWarnings];
  return carry({ request, planned, admission, warnings, clock, goodUntil: admitted.fresh.goodUntil });
}

/**
 * The error of an execution whose admission got no answer. The admission may still be committed, but the
 * execution is never sent and ends as unsent.
 */
function unanswered(clock: Clock, pinnedId: string): Fault {
  void correctUnsentPin(clock, { id: pinnedId, fence: 1 }); // not awaited, because the database is out
  return unsent(pinnedId);
}

async function read(
  ctx: Ctx,
  raw: Record<string, Json>,
  idempotencyHeader: string | SentKey | undefined,
): Promise<Wanted> {
  const request = parsePinned(raw);
  const key = settleKey(request.idempotencyKey, idempotencyHeader) ?? null;
  const project = await access.authorize(ctx, "pins:submit", { place: request.context });
  const { environment } = project;
  const identityHash = await identityHashOf(request, { projectId: project.id, environment });
  return { request, project, environment, key, identityHash };
}

async function admissionOf(
  ctx: Ctx,
  { request, project, environment, identityHash }: Wanted,
  { plan, content, isTest, bound }: Planned,
  spelling: string | null,
): Promise<PinnedAdmission> {
  const { input } = request;
  const { estimatedMicros, maximumMicros, warnings } = await bound(input);
  refuseUnapproved(project, estimatedMicros);
  const now = ctx.now();
  // Members keep the caller's order, because vendors mind the order of a schema's properties.
  const kept = JSON.stringify({ ...content, input });
  if (kept.length > LARGE) await turn();
  return {
    id: newId("pinned"),
    project_id: project.id,
    organization_id: project.organizationId,
    environment,
    principal_id: ctx.principal.id,
    principal_kind: ctx.principal.kind,
    submitted_by: personBehind(ctx.principal),
    bulk_id: null,
    position: null,
    item_id: null,
    idempotency_key: spelling,
    identity_hash: identityHash,
    status: "running",
    provider: plan.pin.provider,
    model: plan.pin.model,
    api: plan.pin.api,
    plan,
    request_hash: (await requestHasher(request))(input),
    input_hash: sha256Hex(input),
    estimated_micros: estimatedMicros,
    maximum_micros: maximumMicros,
    is_test: isTest,
    created_at: now,
    started_at: now,
    fence: 1,
    lease_owner: leaseOwner,
    warnings,
    ...underOrganization(project, { kind: "inference", leaves: !isTest }),
    hold_id: maximumMicros > 0 ? newId("hold") : null,
    credential_ids: plan.credentialId === null ? [] : [plan.credentialId],
    budget_enforcement: enforcementOf({
      execution: { executionConstraints: {} },
      budget: request.budget,
    }),
    // A single execution never reads its request back, so under HashesOnly none is stored.
    request: plan.retentionRequirement === "HashesOnly" ? null : keptUnder(plan, kept, now),
  };
}

async function carry({
  request: { input },
  planned: { plan, content },
  admission,
  warnings,
  clock,
  goodUntil,
}: {
  request: PinnedRequest;
  planned: Planned;
  admission: PinnedAdmission;
  warnings: Record<string, Json>[];
  clock: Clock;
  goodUntil: number;
}): Promise<PinnedAnswer> {
  const { id } = admission;
  const attempts: PinnedAttemptRow[] = [];
  const lease = pinLeases.hold(id, admission.fence, { goodUntil });
  try {
    const result = await execute({
      row: admission,
      plan,
      content: { ...content, input },
      attempts,
      lease,
      clock,
    });
    if (result.state === "ended" && result.isUnsent) throw unsent(id);
    if (result.state !== "ended" || !result.written)
      return unknown(id, "This execution was ended by another process before its answer arrived.");
    const record = recordOf(result.written);
    // Only this answer shows the provider's reply and when to retry; no record stores them.
    const { said, details } = result.written.ending;
    const { principal_kind } = admission;
    const shown = visibleProviderMessage(
      { principal_kind, data_classification: plan.dataClassification },
      said,
    );
    if (record.error) throw toFault(record.error, record, withSaid(details, shown).details);
    return toAnswer(record, warnings);
  } catch (cause) {
    if (cause instanceof Fault || !isDatabaseOutage(cause)) throw cause;
    if (submissionOf(attempts) === "not_attempted") throw unsent(id);
    // The provider may have answered although the database does not, so sending again could run it twice.
    return unknown(id, "The result of this execution could not be recorded yet.");
  } finally {
    lease.release();
  }
}

function toAnswer(record: PinnedRecord, warnings: Record<string, Json>[]): PinnedAnswer {
  const { output, nativeResponse } = record;
  const result = { receipt: record, output, ...(nativeResponse === undefined ? {} : { nativeResponse }) };
  return {
    status: record.status,
    receiptId: record.receiptId,
    executionId: record.pinnedId,
    ...result,
    result,
    warnings,
  };
}

/** The error of a failure, which names its record. `shownOnce`: details that only this answer shows. */
function toFault(
  error: NonNullable<PinnedRecord["error"]>,
  record: PinnedRecord,
  shownOnce: Record<string, unknown> = {},
): Fault {
  const { safelyRetryable, providerSubmission } = record;
  return faultOf(error, nextStepOf(safelyRetryable, providerSubmission), {
    ...shownOnce,
    executionId: record.pinnedId,
    receiptId: record.receiptId,
    providerSubmission,
    safelyRetryable,
  });
}

const unknown = (id: string, message: string): never =>
  failUnknown(id, message, { providerSubmission: "ambiguous", safelyRetryable: false });

/** The error of an execution that was never sent; its record is stored now or soon. */
const unsent = (executionId: string): Fault =>
  unsentFault(executionId, { providerSubmission: "not_attempted", safelyRetryable: true });

/**
 * Answers with the first execution of this key. Waits while it runs, until a minute after its time limits.
 */
async function replay(id: string, clock: Clock): Promise<PinnedAnswer> {
  const look = async () => {
    const row = await endOf({ id });
    if (!row) throw new Error("an admitted execution does not exist");
    return row;
  };
  const row = await awaitFirst(clock, look, ({ completed_at }) => completed_at !== null, longestMs);
  return row ? fromRow(row) : unknown(id, "The first execution with this key is still running.");
}

function longestMs({ plan }: Pick<PinnedRow, "plan">): number {
  const { timeoutSeconds = 0, admissionDeadlineSeconds = 0 } = plan?.limits ?? {};
  return (timeoutSeconds + admissionDeadlineSeconds) * 1000;
}

async function fromRow(row: Pick<PinnedRow, "id" | "error" | "warnings">): Promise<PinnedAnswer> {
  const record = await wholeRecord({ receiptId: receiptIdOf(row.id), ...EVERYTHING });
  if (!record) throw new Error("an execution has ended without a record");
  if (row.error) throw toFault(row.error, record);
  // The warning belongs to this answer; the record does not change.
  const warnings = record.outputHash !== null && record.output === null ? [OUTPUT_REMOVED] : [];
  return toAnswer(record, [...row.warnings, ...warnings]);
}
