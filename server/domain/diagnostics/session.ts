import type { SessionDiagnostics } from "@/server/contract/diagnostics";
import { access } from "@/server/domain/access";
import { ceilings } from "@/server/domain/budgets";
import { routeBundle } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { apiKey } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { VERSION } from "@/server/platform/settings/version";
import { text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const readKey = statement("api_key.read.expiry", {
  params: { principalId: text, organizationId: text },
  row: { expires_at: apiKey.expires_at },
  sql: `SELECT expires_at FROM api_key WHERE id = $principalId AND organization_id = $organizationId`,
});

/**
 * The identity of a key, its remaining limits, and the build that answers. AuthorizationFailed for any other
 * caller. The rate limit is added where requests are counted.
 */
export async function session(ctx: Ctx): Promise<Omit<SessionDiagnostics, "rateLimit">> {
  const { principal } = ctx;
  if (principal.kind !== "service_principal")
    fail(
      "AuthorizationFailed",
      "Session diagnostics need an API key. Send one as Authorization: Bearer cap_…",
    );
  access.authorize(ctx, "diagnostics:read");
  const row = await readKey.first(pool, {
    principalId: principal.id,
    organizationId: principal.organizationId,
  });
  const { version, hash } = routeBundle();
  const { projectId } = principal;
  return {
    authenticated: true,
    principalId: principal.id,
    principalKind: principal.kind,
    organizationId: principal.organizationId,
    projectId,
    tokenProjectId: projectId,
    principalProjectId: projectId,
    environment: principal.environment,
    scopes: [...principal.scopes],
    expiresAt: row?.expires_at?.toISOString() ?? null,
    ceilings: await ceilings(ctx, principal),
    apiVersion: VERSION,
    routeBundleVersion: version,
    routeBundleHash: hash,
    serverTime: ctx.now().toISOString(),
  };
}
