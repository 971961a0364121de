import { setImmediate } from "node:timers/promises";
import type { PinnedBulk, PinnedBulkRequest } from "@/server/contract/pinned";
import { access, type DeferredAccess, personBehind } from "@/server/domain/access";
import { isKeptSealed } from "@/server/domain/content";
import type { Ctx } from "@/server/domain/ctx";
import { admitOnce, keptUntil, type SentKey, settleKey } from "@/server/domain/envelope";
import { planPinned } from "@/server/domain/pins/planning/plan";
import { identityHashOf, parsePinnedBulk, requestHasher } from "@/server/domain/pins/planning/request";
import { refuseUnapproved } from "@/server/domain/pins/planning/threshold";
import { underOrganization } from "@/server/domain/plans";
import type { Json } from "@/server/platform/durable/step";
import { Fault, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { failpoint } from "@/server/platform/settings/failpoint";
import { sha256Hex } from "@/server/platform/text/canonical";
import { LARGE, turn } from "@/server/platform/time/turn";
import { RUN } from "../single";
import { type BulkAdmission, bulksOfKey, type ItemAdmission, insertBulk } from "./admission";
import { wakeBulk } from "./dispatch";
import { viewBulk } from "./read";

/**
 * Each item is hashed with everything that its bulk shares: at most `MOST_HASHED_BYTES` in total. Other
 * requests get a turn every `TURN_MS`.
 */
const MOST_HASHED_BYTES = 4 * 1024 ** 3;
const TURN_MS = 10;

/** Delay after which a lost wake is sent again; later resends back off. */
const WAKE_AFTER_MS = 10_000;

/**
 * Accepts up to 10,000 executions of one pin. The bulk is planned once, each item is bounded and hashed
 * separately, and one statement writes everything. The same key and request answer with the first bulk as it
 * is now.
 */
export async function submitBulk(
  ctx: Ctx,
  raw: Record<string, Json>,
  idempotencyHeader?: string | SentKey,
): Promise<PinnedBulk> {
  const request = parsePinnedBulk(raw);
  return acceptBulk(ctx, request, settleKey(request.idempotencyKey, idempotencyHeader) ?? null, null);
}

/** Accepts a parsed request under this key. */
export async function acceptBulk(
  ctx: Ctx,
  request: PinnedBulkRequest,
  key: SentKey | null,
  retryOf: string | null,
): Promise<PinnedBulk> {
  refuseTwins(request);
  const project = await access.authorize(ctx, "pins:submit", { place: request.context });
  const { environment } = project;
  const hash = await identityHashOf(request, { projectId: project.id, environment });
  const admitted = await admitOnce(
    { key, hash, environment, what: "bulk" },
    (spellings) => bulksOfKey(project.id, spellings),
    async (spelling) => {
      if (project.refusal) throw project.refusal;
      const admission = await admissionOf(ctx, request, project, { spelling, hash, retryOf });
      return (await insertBulk(admission)) ? admission : null;
    },
  );
  if ("first" in admitted) return viewBulk(ctx, admitted.first.id, RUN);
  failpoint("after-admission");
  const { id } = admitted.fresh;
  wakeBulk({ id, projectId: project.id, dispatchNumber: 1 });
  return viewBulk(ctx, id, RUN);
}

/** Plans a bulk once, and bounds and hashes each of its items. */
async function admissionOf(
  ctx: Ctx,
  request: PinnedBulkRequest,
  project: DeferredAccess,
  { spelling, hash, retryOf }: { spelling: string | null; hash: string; retryOf: string | null },
): Promise<BulkAdmission> {
  const { environment } = project;
  const planned = await planPinned(request, request.items[0]!.input, project, environment); // the schema requires one
  const { plan, target } = planned;
  const sharedBytes = Buffer.byteLength(JSON.stringify(planned.content));
  refuseRepetition(request.items.length, sharedBytes);
  if (sharedBytes > LARGE) await turn();
  const hashRequest = await requestHasher(request);
  const items: ItemAdmission[] = [];
  let turnEnds = performance.now() + TURN_MS;
  for (const [place, { id: item_id, input }] of request.items.entries()) {
    if (performance.now() > turnEnds) {
      await setImmediate();
      turnEnds = performance.now() + TURN_MS;
    }
    const bound = await planned.bound(input).catch((cause) => atItem(cause, place));
    const content = JSON.stringify({ input });
    items.push({
      id: newId("pinned"),
      item_id,
      request_hash: hashRequest(input),
      content,
      content_sha256: sha256Hex(content),
      input_hash: sha256Hex(input),
      payload_id: newId("payload"),
      estimated_micros: bound.estimatedMicros,
      maximum_micros: bound.maximumMicros,
      warnings: bound.warnings,
    });
  }
  const estimatedMicros = items.reduce((sum, item) => sum + item.estimated_micros, 0);
  refuseUnapproved(project, estimatedMicros, items.length);
  const now = ctx.now();
  const { items: _items, idempotencyKey: _key, ...shared } = request;
  const context = { ...request.context, projectId: project.id, environment };
  // Members keep the caller's order, because vendors mind the order of a schema's properties.
  const content = JSON.stringify({ ...shared, context });
  if (content.length > LARGE) await turn();
  return {
    id: newId("bulk"),
    project_id: project.id,
    organization_id: project.organizationId,
    environment,
    principal_id: ctx.principal.id,
    principal_kind: ctx.principal.kind,
    submitted_by: personBehind(ctx.principal),
    idempotency_key: spelling,
    identity_hash: hash,
    provider: target.provider.name,
    model: target.model.id,
    api: plan.pin.api,
    plan,
    concurrency: request.concurrency,
    retry_of: retryOf,
    is_test: planned.isTest,
    ...underOrganization(project, { kind: "inference", leaves: !planned.isTest }),
    created_at: now,
    wake_after_ms: WAKE_AFTER_MS,
    is_sealed: isKeptSealed(plan.dataClassification, plan.retentionRequirement),
    expires_at: keptUntil(plan.contentKeptMs, now),
    shared: { id: newId("payload"), content, sha256: sha256Hex(content) },
    items,
  };
}

function refuseRepetition(items: number, sharedBytes: number): void {
  if (items * sharedBytes <= MOST_HASHED_BYTES) return;
  const fitting = Math.floor(MOST_HASHED_BYTES / sharedBytes);
  throw new ValidationFault([
    {
      loc: ["body", "items"],
      msg: `The part that these items share has ${sharedBytes} bytes, so at most ${fitting} items fit. Split the bulk.`,
      type: "too_much_repeated",
      ctx: { sharedBytes, maxItems: fitting },
    },
  ]);
}

function refuseTwins({ items }: PinnedBulkRequest): void {
  const places = new Map<string, number>();
  for (const [place, { id }] of items.entries()) {
    const first = places.get(id);
    if (first !== undefined)
      throw new ValidationFault([
        {
          loc: ["body", "items", place, "id"],
          msg: `Item ${first} has the same id. Give each item its own.`,
          type: "duplicate",
        },
      ]);
    places.set(id, place);
  }
}

/** Adds the item's place to an error about its input. */
function atItem(cause: unknown, place: number): never {
  if (cause instanceof Fault && cause.details.field === "input")
    throw new Fault(cause.code, cause.message, { ...cause.details, field: `items[${place}].input` });
  throw cause;
}
