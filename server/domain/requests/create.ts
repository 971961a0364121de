import type { CapabilityRequest, CapabilityRequestBody } from "@/server/contract/requests";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { admitOnce, type SentKey, settleKey } from "@/server/domain/envelope";
import { inTransaction, pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { DAY_SECONDS } from "@/server/platform/time/units";
import { contentOf, insertRevision } from "./content";
import { noSuchRequest, type RequestRow, readWhole, toRequest } from "./rows";
import { recordRequestEvent } from "./transitions";

/** Every request is read by people: so many may a project file within a day. */
const MOST_A_DAY = 1_000;

/**
 * Files a need as a draft. The same idempotency key in a project is one request, answered as it is by now; with another
 * wording it is IdempotencyConflict.
 */
export async function create(
  ctx: Ctx,
  body: CapabilityRequestBody,
  idempotencyHeader?: string | SentKey,
): Promise<CapabilityRequest> {
  const key = settleKey(body.idempotencyKey, idempotencyHeader) ?? null;
  const project = await access.authorize(ctx, "requests:create", { projectId: body.projectId });
  const content = contentOf(body);
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
      await insertRevision(client, ctx, row, { number: 1, ...content });
      await recordRequestEvent(client, ctx, row, { type: "capability_request.created" });
      const [made] = await readWhole(client, "WHERE request.id = $1", [row.id]);
      return made ?? noSuchRequest();
    });
  const admitted = await admitOnce(
    { key, hash: content.hash, environment: null },
    (spellings) => requestsOfKey(project.id, spellings),
    async () => {
      if (project.refusal) throw project.refusal;
      // Where nothing was filed under its key either, the project has filed too many.
      return (await file()) ?? tooMany(project.id, now);
    },
  );
  return toRequest("first" in admitted ? admitted.first : admitted.fresh);
}

/** The requests that have a spelling of a key. */
async function requestsOfKey(projectId: string, spellings: string[]) {
  const where = "WHERE request.project_id = $1 AND request.idempotency_key = ANY($2)";
  const rows = await readWhole(pool, where, [projectId, spellings]);
  return rows.map((row) => ({
    ...row,
    hash: row.identity_hash,
    spelling: row.idempotency_key ?? "",
    environment: null,
  }));
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
