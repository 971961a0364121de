import type { CapabilityRequest, CapabilityRequestBody } from "@/server/contract/requests";
import { inTransaction, pool } from "@/server/db";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { refuseKey, settleKey } from "@/server/domain/envelope";
import { fail } from "@/server/errors";
import { newId } from "@/server/ids";
import { contentOf, insertRevision } from "./content";
import { noSuchRequest, type RequestRow, type RequestWhole, readWhole, toRequest } from "./rows";
import { happened } from "./transitions";

/** Every request is read by people: so many may a project file within a day. */
const MOST_A_DAY = 1_000;
const DAY_SECONDS = 86_400;

/**
 * Files a need as a draft. The same idempotency key in a project is one request, answered as it is by now; with another
 * wording it is IdempotencyConflict.
 */
export async function create(
  ctx: Ctx,
  body: CapabilityRequestBody,
  idempotencyHeader?: string,
): Promise<CapabilityRequest> {
  const key = settleKey(body.idempotencyKey, idempotencyHeader) ?? null;
  const project = await access.authorize(ctx, "requests:create", { projectId: body.projectId });
  const content = contentOf(body);
  const now = ctx.now();
  if (project.refusal) {
    const first = await firstOfKey(project.id, key, content.hash);
    if (!first) throw project.refusal;
    return toRequest(first);
  }
  const row: RequestRow = {
    id: newId("capabilityRequest"),
    organization_id: project.organizationId,
    project_id: project.id,
    status: "draft",
    current_revision_id: newId("requestRevision"),
    created_by: ctx.principal.id,
    created_by_kind: ctx.principal.kind,
    idempotency_key: key,
    identity_hash: key && content.hash,
    feedback: null,
    capability_key: null,
    submitted_at: null,
    fulfilled_at: null,
    created_at: now,
    updated_at: now,
  };
  const whole = await inTransaction(async (client) => {
    const { rowCount } = await client.query(
      `INSERT INTO capability_request (id, organization_id, project_id, status, current_revision_id, created_by,
         created_by_kind, idempotency_key, identity_hash, created_at, updated_at)
       SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10
       WHERE (SELECT count(*) FROM capability_request
              WHERE project_id = $3 AND created_at > $10::timestamptz - make_interval(secs => $11)) < $12
       ON CONFLICT (project_id, idempotency_key) DO NOTHING`,
      [
        row.id,
        row.organization_id,
        row.project_id,
        row.status,
        row.current_revision_id,
        row.created_by,
        row.created_by_kind,
        row.idempotency_key,
        row.identity_hash,
        now,
        DAY_SECONDS,
        MOST_A_DAY,
      ],
    );
    if (rowCount === 0) return null;
    await insertRevision(client, ctx, row, 1, content);
    await happened(client, ctx, row, "capability_request.created");
    const [made] = await readWhole(client, "WHERE request.id = $1", [row.id]);
    return made ?? noSuchRequest();
  });
  // Where nothing was filed under its key either, the project has filed too many.
  return toRequest(
    whole ?? (await firstOfKey(project.id, key, content.hash)) ?? (await tooMany(project.id, now)),
  );
}

/** What a key stands for already; null: nothing. */
async function firstOfKey(projectId: string, key: string | null, hash: string): Promise<RequestWhole | null> {
  if (key === null) return null;
  const [first] = await readWhole(pool, "WHERE request.project_id = $1 AND request.idempotency_key = $2", [
    projectId,
    key,
  ]);
  if (!first) return null;
  if (first.identity_hash !== hash) refuseKey(first.id);
  return first;
}

async function tooMany(projectId: string, now: Date): Promise<never> {
  const { rows } = await pool.query<{ at: Date }>(
    "SELECT created_at AS at FROM capability_request WHERE project_id = $1 ORDER BY id DESC OFFSET $2 LIMIT 1",
    [projectId, MOST_A_DAY - 1],
  );
  const freeAt = (rows[0]?.at ?? now).getTime() + DAY_SECONDS * 1_000;
  fail("RateLimited", `A project can file ${MOST_A_DAY} requests a day. Try again tomorrow.`, {
    retryAfterSeconds: Math.max(1, Math.ceil((freeAt - now.getTime()) / 1_000)),
  });
}
