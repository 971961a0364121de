import type { SessionDiagnostics } from "@/server/contract/diagnostics";
import { pool } from "@/server/db";
import { access } from "@/server/domain/access";
import { routeBundle } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { fail } from "@/server/errors";
import { VERSION } from "@/server/version";

/** What a key is and which build answers it. Of keys only: AuthorizationFailed for anybody else. */
export async function session(ctx: Ctx): Promise<SessionDiagnostics> {
  const { principal } = ctx;
  if (principal.kind !== "service_principal")
    fail(
      "AuthorizationFailed",
      "Session diagnostics need an API key. Send one as Authorization: Bearer cap_…",
    );
  access.authorize(ctx, "diagnostics:read");
  const { rows } = await pool.query<{ expires_at: Date | null }>(
    "SELECT expires_at FROM api_key WHERE id = $1 AND organization_id = $2",
    [principal.id, principal.organizationId],
  );
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
    expiresAt: rows[0]?.expires_at?.toISOString() ?? null,
    apiVersion: VERSION,
    routeBundleVersion: version,
    routeBundleHash: hash,
    serverTime: ctx.now().toISOString(),
  };
}
