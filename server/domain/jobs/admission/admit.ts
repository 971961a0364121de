import type { Capability } from "@/server/capabilities/define";
import type { RawEnvelope } from "@/server/contract/envelope";
import type { Job } from "@/server/contract/jobs";
import { getCapability } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { holderOf, isSameRequest, type SentKey, sameFirst, spellingsOf } from "@/server/domain/envelope";
import { unsentFault } from "@/server/domain/executions";
import { jobLater } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { type Fault, fail } from "@/server/platform/errors/errors";
import { isDatabaseOutage } from "@/server/platform/errors/outage";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { isObject } from "@/server/platform/text/json";
import { LARGE, turn } from "@/server/platform/time/turn";
import { int8, joinColumns, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { correctUnsentJob } from "../ending/never-sent";
import { get } from "../reading/get";
import { heldFor, toJob } from "../reading/view";
import { type JobRow, type PayloadRow, payloadsOf, requestContentOf } from "../rows";
import { readJob } from "../running/work";
import { type Admission, type Admitted, insertAdmitted, jobsOfKey } from "../transitions/admission";
import { keepSources, type Prepared, prepare } from "./prepare";
import { joinEarlier, watchWaiter } from "./repeats";
import {
  type CanonicalRequest,
  type InternalTerms,
  type ReceivedRequest,
  read,
  readByReference,
  referenceHashOf,
} from "./submission";

/** A submission that this call admitted. */
export type Fresh = Prepared & Admitted;

/**
 * Admits a submission, or finds the job of the same request under its key, or of the earlier request that it
 * repeats; `fresh` is then null and the answer is marked as a replay. An expired quote or a route that no
 * longer exists refuses no replay. The same key with another request throws IdempotencyConflict with the
 * first job's id.
 */
export async function admit(
  ctx: Ctx,
  asked: ReceivedRequest,
): Promise<{ jobId: string; fresh: Fresh | null }> {
  const found = await admitOrFind(ctx, asked);
  ctx.isReplay = found.fresh === null;
  return found;
}

async function admitOrFind(
  ctx: Ctx,
  asked: ReceivedRequest,
): Promise<{ jobId: string; fresh: Fresh | null }> {
  let submission: CanonicalRequest;
  try {
    submission = await read(ctx, asked);
  } catch (refusal) {
    const referenced = await readByReference(ctx, asked);
    const first = referenced && (await findHolder(referenced)).first;
    const firstHash = first && (first.reference_hash ?? (await keptReferenceHashOf(first.id)));
    if (!first || !firstHash) throw refusal;
    return { jobId: sameFirst({ ...first, hash: firstHash }, referenced.referenceHash).id, fresh: null };
  }
  // The key's unique index cannot match a spelling that only 0.2.0 stored, so the job is looked up first.
  if (submission.key.former !== undefined) {
    const { first } = await findHolder(submission);
    if (first) return { jobId: sameFirst(first, submission.knownAs).id, fresh: null };
  } else if (recent.has(keyOf(submission))) {
    const { first } = await findHolder(submission);
    if (first && isSameRequest(first, submission.knownAs)) return { jobId: first.id, fresh: null };
  }
  let prepared: Prepared;
  try {
    prepared = await prepare(ctx, submission);
    await keepSources(submission, prepared, ctx.now());
    if (asked.kind === "jobs") await refuseOverload(submission.project.id, ctx.now().getTime());
  } catch (refusal) {
    const first = await findEarlier(ctx, submission);
    if (first === null) throw refusal;
    return { jobId: first, fresh: null };
  }
  return insertOnce(ctx, submission, prepared);
}

/**
 * Admits the submission under its idempotency key; if another environment already uses that key, under the
 * form of the key that is specific to this environment.
 */
async function insertOnce(
  ctx: Ctx,
  submission: CanonicalRequest,
  prepared: Prepared,
): Promise<{ jobId: string; fresh: Fresh | null }> {
  const { admission, plan } = prepared;
  const isInvoke = submission.kind === "invoke";
  const admitted = await insertAdmitted(admission).catch(async (refusal) => {
    throw isInvoke && isDatabaseOutage(refusal) ? unanswered(ctx, admission) : await plan.suggest(refusal);
  });
  const jobId = admitted && "joined" in admitted ? admitted.joined : admission.id;
  if (admitted) watchWaiter(ctx, jobId, admission.id, admission);
  if (admitted && "joined" in admitted) return { jobId, fresh: null };
  if (recent.size >= MOST_RECENT) recent.clear();
  recent.add(keyOf(submission));
  if (admitted) return { jobId, fresh: freshOf(prepared, admitted) };
  const { first, spelling } = await findHolder(submission);
  // The statement was sent twice because the answer to the first was lost.
  if (isInvoke && first?.id === admission.id) throw unanswered(ctx, admission);
  if (first) return { jobId: sameFirst(first, submission.knownAs).id, fresh: null };
  if (spelling === admission.idempotency_key)
    throw new Error("an idempotency key is taken, but its job does not exist");
  return insertOnce(ctx, submission, {
    ...prepared,
    admission: joinColumns(admission, { idempotency_key: spelling }),
  });
}

/**
 * Builds the error of a synchronous call whose admission was not answered. The admission may still be
 * committed, even later; its request is then never sent, and the execution ends accordingly.
 */
function unanswered(ctx: Ctx, { id, attempt_id }: Admission): Fault {
  void correctUnsentJob(ctx, { jobId: id, fence: 1, attemptId: attempt_id }); // not awaited: the database may be unreachable
  return unsentFault(id);
}

/**
 * Reference hash of a job whose request had its input inline; null if its content is not stored, so that
 * nothing can be compared.
 */
async function keptReferenceHashOf(jobId: string): Promise<string | null> {
  const job = await readJob(jobId);
  const content = job && requestContentOf(job, await payloadsOf(job));
  return isObject(content) ? referenceHashOf(content, sha256Hex(canonicalText(content.input ?? null))) : null;
}

/**
 * Adds the values that the statement decided: the funding, and the warnings of stored budgets with their
 * events.
 */
function freshOf(prepared: Prepared, admitted: Admitted): Fresh {
  const { budgetWarnings, funding } = admitted;
  const { admission, plan } = prepared;
  if (budgetWarnings.length === 0 && funding === admission.hold_funding) return { ...prepared, ...admitted };
  const warnings = [...plan.warnings, ...budgetWarnings];
  const last_event = admission.last_event + budgetWarnings.length;
  return {
    ...prepared,
    ...admitted,
    plan: { ...plan, warnings },
    admission: joinColumns(admission, { warnings, last_event, hold_funding: funding }),
  };
}

/**
 * Keys that this process has seen in use: a hint to look them up before planning. Only the database decides.
 */
const recent = new Set<string>();
const MOST_RECENT = 50_000;

const keyOf = ({ project, environment, kind, key }: CanonicalRequest) =>
  `${project.id} ${environment} ${kind} ${key.key}`;

/**
 * Finds the job that already has this key, if any, and the spelling under which a new job would be stored.
 */
async function findHolder({
  project,
  environment,
  kind,
  key,
}: Pick<CanonicalRequest, "project" | "environment" | "kind" | "key">) {
  const spellings = spellingsOf(key, environment);
  const holders = await jobsOfKey({ projectId: project.id, operation: kind, spellings });
  return holderOf(holders, key, environment);
}

/**
 * Finds the earlier job of a submission that is now refused: the job of its key, or the one that it repeats.
 * Null if there is none.
 */
async function findEarlier(ctx: Ctx, submission: CanonicalRequest): Promise<string | null> {
  if (submission.repeat.repeat_hash !== null) {
    const joined = await joinEarlier(ctx, submission.repeat);
    if (joined) watchWaiter(ctx, joined.id, joined.waiter, submission.repeat);
    return joined?.id ?? null;
  }
  const { first } = await findHolder(submission);
  return first && isSameRequest(first, submission.knownAs) ? first.id : null;
}

/**
 * Admits a durable job, or returns the job of the same request. One statement writes the key, the job, the
 * hold, the first event and the dispatch.
 */
export async function submit(
  ctx: Ctx,
  capabilityKey: string,
  raw: RawEnvelope,
  idempotencyHeader?: string | SentKey,
): Promise<Job> {
  return admitDurable(ctx, getCapability(capabilityKey), raw, { idempotencyHeader });
}

export async function admitDurable(
  ctx: Ctx,
  capability: Capability,
  raw: RawEnvelope,
  {
    idempotencyHeader,
    beside = {},
  }: { idempotencyHeader: string | SentKey | undefined; beside?: InternalTerms | undefined },
): Promise<Job> {
  const { jobId, fresh } = await admit(ctx, { kind: "jobs", capability, raw, idempotencyHeader, beside });
  if (!fresh) return get(ctx, jobId, "capabilities:run");
  const job = toFreshJob(fresh.admission, ctx.now());
  // The answer contains the request: other requests get a turn before a large one is serialized again.
  if ((fresh.admission.payload_content?.length ?? 0) > LARGE) await turn();
  return job;
}

/** Builds the row that an admission wrote, so that it need not be read back. */
export function toRow(admission: Admission, kept: Pick<JobRow, "content_kept_ms"> = {}): JobRow {
  // `admission` has more fields than the row, since picking forty columns costs more than it saves.
  return joinColumns(jobLater, admission, kept, {
    metadata: admission.metadata as JobRow["metadata"], // an object by its schema
    maturity: admission.maturity as JobRow["maturity"], // an object by its schema
    warnings: admission.warnings as JobRow["warnings"], // written from this type
    billing_mode: admission.billing_mode as JobRow["billing_mode"], // written from this type
  });
}

/** Answers a submission that was just admitted without reading back its rows. */
function toFreshJob(admission: Admission, now: Date): Job {
  const request: PayloadRow = {
    id: admission.payload_id,
    kind: "request",
    content: admission.payload_content,
    is_sealed: false,
    sha256: admission.payload_sha256,
  };
  const job = toRow(admission);
  return toJob(
    job,
    { attempt: null, artifacts: [], payloads: [request], sealed: null, hold: heldFor(job) },
    now,
  );
}

const MOST_UNFINISHED = 10_000;
const COUNTED_EVERY_MS = 1000;

const countUnfinished = statement("job.count.unfinished", {
  params: { projectId: text },
  row: { count: int8 },
  prepared: true,
  sql: "SELECT count(*) AS count FROM job WHERE project_id = $projectId AND completed_at IS NULL",
});
const unfinished = new Map<string, { count: number; countedAt: number }>();

/**
 * Refuses a submission above 10,000 unfinished jobs of a project. Each process counts at most once a second,
 * so the limit takes effect slightly late.
 */
export async function refuseOverload(projectId: string, nowMs: number) {
  let known = unfinished.get(projectId);
  if (!known || nowMs - known.countedAt > COUNTED_EVERY_MS || nowMs < known.countedAt) {
    const counted = await countUnfinished.first(pool, { projectId });
    known = { count: counted?.count ?? 0, countedAt: nowMs };
    if (unfinished.size > 10_000) unfinished.clear();
    unfinished.set(projectId, known);
  }
  known.count++;
  if (known.count > MOST_UNFINISHED) {
    fail(
      "DURABLE_CONCURRENCY_LIMIT",
      `This project already has ${MOST_UNFINISHED} unfinished jobs. Wait until some have ended.`,
      { current: known.count - 1, limit: MOST_UNFINISHED, retryAfterSeconds: COUNTED_EVERY_MS / 1000 },
    );
  }
}
