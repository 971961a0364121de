import type { CapabilityRequest, CapabilityRequestBody } from "@/server/contract/requests";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { admitOnce, type SentKey, settleKey } from "@/server/domain/envelope";
import { capabilityRequest } from "@/server/generated/schema";
import { inTransaction, pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { DAY_SECONDS } from "@/server/platform/time/units";
import { pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { freezeContent, insertRevision } from "./content";
import { type RequestRow, readWithKey, readWithRevision, toRequest } from "./rows";
import { recordRequestEvent } from "./transitions";

/** Most requests that a project may file within a day, because people read every one. */
const MOST_A_DAY = 1_000;

const FILED = pick(
  capabilityRequest,
  "id organization_id project_id status current_revision_id created_by created_by_kind",
  "idempotency_key identity_hash created_at",
);
const addRequest = statement("capability_request.insert", {
  params: FILED,
  sql: `INSERT INTO capability_request (id, organization_id, project_id, status, current_revision_id, created_by,
         created_by_kind, idempotency_key, identity_hash, created_at, updated_at)
       SELECT $id, $organization_id, $project_id, $status, $current_revision_id, $created_by, $created_by_kind,
         $idempotency_key, $identity_hash, $created_at, $created_at
       WHERE (SELECT count(*) FROM capability_request
              WHERE project_id = $project_id AND created_at > $created_at::timestamptz - make_interval(secs => ${DAY_SECONDS}))
         < ${MOST_A_DAY}
       ON CONFLICT (project_id, idempotency_key) DO NOTHING`,
});

/**
 * Files a need as a draft. The same idempotency key in a project returns the same request in its current
 * state; with another wording it is IdempotencyConflict.
 */
export async function create(
  ctx: Ctx,
  body: CapabilityRequestBody,
  idempotencyHeader?: string | SentKey,
): Promise<CapabilityRequest> {
  const key = settleKey(body.idempotencyKey, idempotencyHeader) ?? null;
  const project = await access.authorize(ctx, "requests:create", { projectId: body.projectId });
  const content = freezeContent(body);
  const now = ctx.now();
  const row: RequestRow = {
    id: newId("capabilityRequest"),
    organization_id: project.organizationId,
    project_id: project.id,
    status: "draft",
    current_revision_id: newId("requestRevision"),
    created_by: ctx.principal.id,
    created_by_kind: ctx.principal.kind,
    idempotency_key: key?.key ?? null,
    identity_hash: key && content.hash,
    feedback: null,
    capability_key: null,
    submitted_at: null,
    fulfilled_at: null,
    created_at: now,
    updated_at: now,
  };
  const file = () =>
    inTransaction(async (client) => {
      if ((await addRequest.count(client, row)) === 0) return null;
      await insertRevision(client, ctx, row, { number: 1, ...content });
      await recordRequestEvent(client, ctx, row, { type: "capability_request.created" });
      return readWithRevision(client, row.id);
    });
  const admitted = await admitOnce(
    { key, hash: content.hash, environment: null },
    (spellings) => requestsOfKey(project.id, spellings),
    async () => {
      if (project.refusal) throw project.refusal;
      // If no request has this key, the insert failed because the project filed too many.
      return (await file()) ?? tooMany(project.id, now);
    },
  );
  return toRequest("first" in admitted ? admitted.first : admitted.fresh);
}

/** The requests with any of these spellings of a key. */
async function requestsOfKey(projectId: string, spellings: string[]) {
  const rows = await readWithKey(projectId, spellings);
  return rows.map((row) => ({
    ...row,
    hash: row.identity_hash,
    spelling: row.idempotency_key ?? "",
    environment: null,
  }));
}

const firstOfDay = statement("capability_request.read.first_of_day", {
  params: { projectId: text },
  row: pick(capabilityRequest, "created_at"),
  sql: `SELECT created_at FROM capability_request
    WHERE project_id = $projectId ORDER BY id DESC OFFSET ${MOST_A_DAY - 1} LIMIT 1`,
});

async function tooMany(projectId: string, now: Date): Promise<never> {
  const first = await firstOfDay.first(pool, { projectId });
  const freeAt = (first?.created_at ?? now).getTime() + DAY_SECONDS * 1_000;
  fail("RateLimited", `A project can file ${MOST_A_DAY} requests a day. Try again tomorrow.`, {
    retryAfterSeconds: Math.max(1, Math.ceil((freeAt - now.getTime()) / 1_000)),
  });
}
