import { hash } from "node:crypto";
import type { EmbedLaunchCode, ExchangedEmbedSession } from "@/server/contract/embeds";
import { isTokenText, makeTokenText } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { panelLaunchCode, panelSession } from "@/server/generated/schema";
import { inTransaction } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { publicUrl } from "@/server/platform/settings/env";
import { MINUTE_MS } from "@/server/platform/time/units";
import { bool, pick, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import type { SessionRow } from "./rows";
import { embedAuditSubject, insertToken, mayChange, refuseEscape, requireGiven } from "./sessions";

/** Lifetime of a launch code: long enough to open a page. */
const CODE_MS = 5 * MINUTE_MS;

const insertCode = statement("launch_code.insert", {
  params: {
    codeId: panelLaunchCode.id,
    sessionId: panelLaunchCode.session_id,
    hash: panelLaunchCode.hash,
    principalId: panelLaunchCode.created_by,
    now: timestamptz,
    expiresAt: timestamptz,
  },
  sql: `INSERT INTO panel_launch_code (id, session_id, hash, created_by, created_at, expires_at)
       VALUES ($codeId, $sessionId, $hash, $principalId, $now, $expiresAt)`,
});

/**
 * Creates a secret that a page exchanges once for an access token of the session. Gone if the session has
 * ended.
 */
export async function createLaunchCode(ctx: Ctx, sessionId: string): Promise<EmbedLaunchCode> {
  requireGiven(ctx);
  const session = await mayChange(ctx, sessionId);
  const now = ctx.now();
  if (session.revoked_at || session.expires_at <= now)
    fail("Gone", "This embed session has ended. Open a new one.");
  await requireOwnTo(ctx, session);
  const [id, code] = [newId("launchCode"), makeTokenText("plc")];
  const expiresAt = new Date(Math.min(now.getTime() + CODE_MS, session.expires_at.getTime()));
  await inTransaction(async (client) => {
    await insertCode.run(client, {
      codeId: id,
      sessionId,
      hash: hash("sha256", code, "buffer"),
      principalId: ctx.principal.id,
      now,
      expiresAt,
    });
    const project = { id: session.project_id, organizationId: session.organization_id };
    const act = {
      ...embedAuditSubject(project, sessionId),
      action: "panel_session.code_made",
      details: { launchCodeId: id },
    };
    await record(ctx, act, client);
  });
  // The code is in the fragment, which no browser sends to a server or in a referrer.
  const embedUrl = `${publicUrl}/embed?session=${sessionId}#code=${code}`;
  return { launchCodeId: id, sessionId, code, expiresAt: expiresAt.toISOString(), embedUrl };
}

/** Refuses a caller that could not have created the session, because a code is as powerful as the session. */
async function requireOwnTo(ctx: Ctx, session: SessionRow): Promise<void> {
  await refuseEscape(ctx, session.organization_id);
  if (ctx.principal.kind === "service_principal" && ctx.principal.environment !== session.environment)
    fail(
      "AuthorizationFailed",
      "This embed session belongs to another environment than the key. Use a key for its environment.",
    );
}

/**
 * The page that exchanges a code. For our own page (`isTrusted`) the frame rules decide which sites show it.
 */
export type ExchangePage = { origin: string | null; isTrusted: boolean };

const lockCode = statement("launch_code.lock.hash", {
  params: { digest: panelLaunchCode.hash },
  row: {
    ...pick(panelLaunchCode, "id session_id used_at expires_at"),
    allowed_origins: panelSession.allowed_origins,
    session_expires_at: panelSession.expires_at,
    is_live: bool,
  },
  sql: `SELECT code.id, code.session_id, code.used_at, code.expires_at, session.allowed_origins,
         session.expires_at AS session_expires_at,
         session.revoked_at IS NULL AND coalesce(definition.status, 'active') = 'active' AS is_live
       FROM panel_launch_code code JOIN panel_session session ON session.id = code.session_id
       LEFT JOIN panel_version version ON version.id = session.version_id
       LEFT JOIN panel_definition definition ON definition.id = version.definition_id
       WHERE code.hash = $digest FOR UPDATE OF code`,
});

const markUsed = statement("launch_code.update.used", {
  params: { codeId: text, now: timestamptz },
  sql: `UPDATE panel_launch_code SET used_at = $now WHERE id = $codeId`,
});

/**
 * Exchanges a launch code once for another access token of the same session, with the same caps and the same
 * end, which a revocation also ends. Gone if the code is unknown, used or expired, or its session has ended.
 * A page of another origin is refused, and does not use up the code.
 */
export async function exchangeLaunchCode(
  ctx: Ctx,
  code: string,
  page: ExchangePage,
): Promise<ExchangedEmbedSession> {
  if (!isTokenText(code, "plc")) return gone();
  const digest = hash("sha256", code, "buffer");
  const now = ctx.now();
  return inTransaction(async (client) => {
    const rows = await lockCode.all(client, { digest });
    const [found] = rows;
    if (!found || found.used_at || found.expires_at <= now) return gone();
    if (!found.is_live || found.session_expires_at <= now) return gone();
    if (!page.isTrusted && !(page.origin !== null && found.allowed_origins.includes(page.origin)))
      fail(
        "CrossSiteRequest",
        "This embed session does not allow this page's origin. Create a session with this origin.",
      );
    await markUsed.run(client, { codeId: found.id, now });
    const accessToken = await insertToken(ctx, client, found.session_id);
    return {
      sessionId: found.session_id,
      accessToken,
      expiresAt: found.session_expires_at.toISOString(),
    };
  });
}

const gone = (): never =>
  fail("Gone", "This launch code is not valid, was already used, or has expired. Create a new one.");
