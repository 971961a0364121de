import type { Ctx } from "@/server/domain/ctx";
import { applyMove, lockRequest, type Move } from "@/server/domain/requests/transitions";
import { inTransaction, pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { DAY_MS } from "@/server/platform/time/units";
import type { TestProject } from "./world";

/** A draft request of a key, written only as rows, for tests of what its moves cause. */
export async function makeRequest({ organizationId, projectId, clock }: TestProject, summary = "Read maps") {
  const [requestId, revisionId] = [newId("capabilityRequest"), newId("requestRevision")];
  const at = clock.now();
  await pool.query(
    `WITH request AS (
       INSERT INTO capability_request (id, organization_id, project_id, status, current_revision_id, created_by,
         created_by_kind, created_at, updated_at)
       VALUES ($1, $3, $4, 'draft', $2, 'key_test', 'service_principal', $6, $6)
     )
     INSERT INTO capability_request_revision (id, request_id, organization_id, number, body, hash, created_by, created_by_kind, created_at)
     VALUES ($2, $1, $3, 1, $5, repeat('0', 64), 'key_test', 'service_principal', $6)`,
    [requestId, revisionId, organizationId, projectId, { summary, need: "A need no one else may read" }, at],
  );
  return { requestId, revisionId };
}

/** A quote of this request: 1,250 US dollars in ten business days, valid for two weeks. */
export async function makeQuote(project: TestProject, request: { requestId: string; revisionId: string }) {
  const quoteId = newId("commissionQuote");
  const now = project.clock.now();
  await pool.query(
    `INSERT INTO commission_quote (id, request_id, revision_id, organization_id, project_id, state, price_micros, currency,
       runtime_pricing, business_days, note, issued_by, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, 'active', 1250000000, 'USD', '{}', 10, 'With a test set.', 'usr_test', $6, $7)`,
    [
      quoteId,
      request.requestId,
      request.revisionId,
      project.organizationId,
      project.projectId,
      now,
      new Date(now.getTime() + 14 * DAY_MS),
    ],
  );
  return quoteId;
}

/** Moves a request in its own transaction. */
export const moveRequest = (
  ctx: Ctx,
  requestId: string,
  how: Move,
  change: Parameters<typeof applyMove>[3]["change"] = {},
) =>
  inTransaction(async (client) =>
    applyMove(client, ctx, await lockRequest(client, requestId), { how, change }),
  );
