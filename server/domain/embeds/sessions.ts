import { hash } from "node:crypto";
import type { EmbedSession, EmbedSessionCreate, NewEmbedSession } from "@/server/contract/embeds";
import { access, changeAccess, makeTokenText } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import { openCeiling } from "@/server/domain/budgets";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { panelSession, panelToken } from "@/server/generated/schema";
import { inTransaction, pool, type Queryable, type Transaction } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { MINUTE_MS } from "@/server/platform/time/units";
import { maybe, pick, text, texts, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, readInScope, SCOPE } from "@/server/sql/tenant";
import { LOOK, MAKE, toChange } from "./definitions";
import { checkInputs } from "./inputs";
import {
  type DefinitionRow,
  definitionsWhere,
  noSuchSession,
  readSession,
  type SessionRow,
  sessionsWhere,
  toSession,
} from "./rows";

const invalid = (field: (string | number)[], msg: string, type = "value_error"): never => {
  throw new ValidationFault([{ loc: ["body", ...field], msg, type }]);
};

const insertSession = statement("embed_session.insert", {
  params: {
    sessionId: panelSession.id,
    organizationId: panelSession.organization_id,
    projectId: panelSession.project_id,
    environment: panelSession.environment,
    versionId: panelSession.version_id,
    allowedOrigins: panelSession.allowed_origins,
    externalSubject: panelSession.external_subject,
    maxSpendMicros: panelSession.max_spend_micros,
    maxJobs: panelSession.max_jobs,
    initialInputs: panelSession.initial_inputs,
    lockedInputs: panelSession.locked_inputs,
    principalId: panelSession.created_by,
    kind: panelSession.created_by_kind,
    now: timestamptz,
    expiresAt: timestamptz,
  },
  sql: `INSERT INTO panel_session (id, organization_id, project_id, environment, version_id, allowed_origins, external_subject,
         max_spend_micros, max_jobs, initial_inputs, locked_inputs, created_by, created_by_kind, created_at, expires_at)
       VALUES ($sessionId, $organizationId, $projectId, $environment, $versionId, $allowedOrigins, $externalSubject, $maxSpendMicros, $maxJobs, $initialInputs, $lockedInputs, $principalId, $kind, $now, $expiresAt)`,
});

/**
 * Creates a session: a right to run, watch and cancel its own jobs, for pages of its origins, until it
 * expires. Its token is only in this answer. Its spending cap is a budget of its own, which the statement
 * that admits its jobs enforces.
 */
export async function createSession(ctx: Ctx, input: EmbedSessionCreate): Promise<NewEmbedSession> {
  const project = await access.authorize(ctx, MAKE, { projectId: input.projectId });
  requireGiven(ctx);
  await refuseEscape(ctx, project.organizationId);
  const place = { projectId: project.id, environment: input.environment };
  const { environment } = await access.authorize(ctx, MAKE, { place });
  const definition = await definitionFor(project, input);
  refuseOtherOrigins(input.allowedOrigins, definition);
  checkInputs(definition?.capability_key ?? null, "initialInputs", input.initialInputs);
  checkInputs(definition?.capability_key ?? null, "lockedInputs", input.lockedInputs);
  const id = newId("panelSession");
  const now = ctx.now();
  const expiresAt = new Date(now.getTime() + input.expiresInMinutes * MINUTE_MS);
  return inTransaction(async (client) => {
    await holdMaker(ctx, client, project.organizationId);
    await insertSession.run(client, {
      sessionId: id,
      organizationId: project.organizationId,
      projectId: project.id,
      environment,
      versionId: definition?.version_id ?? null,
      allowedOrigins: [...new Set(input.allowedOrigins)],
      externalSubject: input.externalSubject ?? null,
      maxSpendMicros: input.maxSpendMicros,
      maxJobs: input.maxJobs,
      initialInputs: input.initialInputs,
      lockedInputs: input.lockedInputs,
      principalId: ctx.principal.id,
      kind: ctx.principal.kind,
      now,
      expiresAt,
    });
    const ceiling = {
      organizationId: project.organizationId,
      principalId: id,
      ceilingMicros: input.maxSpendMicros,
      period: "total" as const,
    };
    await openCeiling(ctx, client, ceiling);
    await access.admitOrigins(client, input.allowedOrigins, expiresAt);
    const accessToken = await insertToken(ctx, client, id);
    const { allowedOrigins, maxSpendMicros, maxJobs } = input;
    const details = { definition: definition?.id ?? null, allowedOrigins, maxSpendMicros, maxJobs };
    await record(
      ctx,
      { ...embedAuditSubject(project, id), action: "panel_session.created", details },
      client,
    );
    const row = await readSession.first(client, { sessionId: id });
    return { ...toSession(row ?? noSuchSession(), now), accessToken };
  });
}

/**
 * Requires that a key has every scope that a session grants: to run, read and cancel. No key can grant a scope
 * that it lacks.
 */
export function requireGiven(ctx: Ctx): void {
  for (const right of [MAKE, "jobs:read", "jobs:write"] as const) access.authorize(ctx, right);
}

export const embedAuditSubject = (project: { id: string; organizationId: string }, subject: string) => ({
  organizationId: project.organizationId,
  projectId: project.id,
  subject,
});

const addToken = statement("embed_token.insert", {
  params: { hash: panelToken.hash, sessionId: panelToken.session_id, now: timestamptz },
  sql: `INSERT INTO panel_token (hash, session_id, created_at) VALUES ($hash, $sessionId, $now)`,
});

/** Creates an access token of a session; the row stores only its hash. */
export async function insertToken(ctx: Ctx, client: Queryable, sessionId: string): Promise<string> {
  const token = makeTokenText("capp");
  await addToken.run(client, { hash: hash("sha256", token, "buffer"), sessionId, now: ctx.now() });
  return token;
}

const findCeiling = statement("budget.find.key_ceiling", {
  params: { organizationId: text, scopes: texts, principalId: text },
  sql: `SELECT FROM budget WHERE organization_id = $organizationId AND scope = ANY($scopes || capstan_key_successors($principalId)) AND enforcement <> 'off'`,
});

/**
 * Refuses a key whose ceiling its sessions would escape: they count against their own cap and the person behind
 * them, but not against the key's ceiling or that of the management key that created it. After a rotation the
 * ceiling of the key's successors counts as its own, until it ends.
 */
export async function refuseEscape(ctx: Ctx, organizationId: string): Promise<void> {
  if (ctx.principal.kind !== "service_principal") return;
  if (ctx.principal.madeByKey)
    fail(
      "AuthorizationFailed",
      "A management key created this key, and its limit would not apply to embed sessions. Use another key.",
    );
  const rowCount = await findCeiling.count(pool, {
    organizationId,
    scopes: [`principal:${ctx.principal.id}`],
    principalId: ctx.principal.id,
  });
  if (rowCount)
    fail(
      "AuthorizationFailed",
      "This key has its own budget, which would not apply to its embed sessions. Use a key without a budget.",
    );
}

const holdKey = statement("api_key.lock.live", {
  params: { keyId: text },
  sql: "SELECT FROM api_key WHERE id = $keyId AND revoked_at IS NULL FOR SHARE",
});
const holdMember = statement("membership.lock.above_viewer", {
  params: { userId: text, organizationId: text },
  sql: `SELECT FROM membership
    WHERE user_id = $userId AND organization_id = $organizationId AND role <> 'viewer' FOR SHARE`,
});

/** Locks the creator's key or membership, so a revocation that follows sees the new session and ends it. */
async function holdMaker({ principal }: Ctx, client: Queryable, organizationId: string): Promise<void> {
  const held =
    principal.kind === "service_principal"
      ? await holdKey.count(client, { keyId: principal.id })
      : await holdMember.count(client, { userId: principal.id, organizationId });
  if (held === 0)
    fail("AuthenticationFailed", "This key or session is not valid. Use another key, or sign in again.");
}

const findNamed = definitionsWhere(
  "embed_definition.find.named",
  { organizationId: text, projectId: text, id: maybe(text), key: maybe(text) },
  `d.organization_id = $organizationId AND (d.project_id IS NULL OR d.project_id = $projectId)
   AND ($id::text IS NULL OR d.id = $id) AND ($key::text IS NULL OR d.key = $key)
   ORDER BY d.project_id NULLS LAST LIMIT 1`,
);

type Named = Pick<EmbedSessionCreate, "panelDefinitionId" | "panelDefinitionKey">;

/**
 * The definition of a new session, by its id, or by its key in the project or else in the organization. Null
 * if none is named.
 */
async function definitionFor(
  project: { id: string; organizationId: string },
  { panelDefinitionId: id, panelDefinitionKey: key }: Named,
): Promise<DefinitionRow | null> {
  if (!id && !key) return null;
  const { organizationId, id: projectId } = project;
  const row = await findNamed.first(pool, { organizationId, projectId, id, key });
  const field = id ? "panelDefinitionId" : "panelDefinitionKey";
  if (!row) return invalid([field], "There is no such embed for this project.", "not_found");
  if (row.status !== "active") invalid([field], `This embed is ${row.status} and cannot be opened.`);
  return row;
}

function refuseOtherOrigins(wanted: string[], definition: DefinitionRow | null): void {
  const allowed = definition?.allowed_origins ?? [];
  if (allowed.length === 0) return;
  const place = wanted.findIndex((origin) => !allowed.includes(origin));
  if (place >= 0)
    invalid(
      ["allowedOrigins", place],
      "The embed does not allow this origin. Add it to the embed's allowed origins.",
    );
}

const VISIBLE = pick(SCOPE, "organizationIds projectId");
const readVisible = sessionsWhere(
  "embed_session.read.visible",
  { sessionId: text, ...VISIBLE },
  `${inScope(VISIBLE, "s")} AND s.id = $sessionId`,
);

/** A session of the caller's projects. NotFound for a foreign session as for an unknown one. */
async function findSession(ctx: Ctx, sessionId: string, right: Scope): Promise<SessionRow> {
  const [row] = await readInScope(readVisible, access.authorize(ctx, right, "rows"), { sessionId });
  return row ?? noSuchSession();
}

export async function getSession(ctx: Ctx, sessionId: string): Promise<EmbedSession> {
  return toSession(await findSession(ctx, sessionId, LOOK), ctx.now());
}

const markRevoked = statement("embed_session.update.revoked", {
  params: { sessionId: text, now: timestamptz },
  sql: `UPDATE panel_session SET revoked_at = $now WHERE id = $sessionId AND revoked_at IS NULL`,
});

/**
 * Ends a session: once this returns, no request anywhere is served by its tokens. Its jobs go on. Repeating
 * it changes nothing.
 */
export async function revokeSession(ctx: Ctx, sessionId: string): Promise<EmbedSession> {
  const known = await mayChange(ctx, sessionId);
  const revoke = async (client: Transaction) => {
    const rowCount = await markRevoked.count(client, { sessionId, now: ctx.now() });
    const project = { id: known.project_id, organizationId: known.organization_id };
    if (rowCount)
      await record(
        ctx,
        { ...embedAuditSubject(project, sessionId), action: "panel_session.revoked" },
        client,
      );
  };
  if (!known.revoked_at) await changeAccess(revoke);
  return toSession(await findSession(ctx, sessionId, MAKE), ctx.now());
}

/** A session that the caller sees, in a project where they may create one. */
export async function mayChange(ctx: Ctx, sessionId: string): Promise<SessionRow> {
  const row = await findSession(ctx, sessionId, toChange(ctx));
  await access.authorize(ctx, MAKE, { projectId: row.project_id });
  return row;
}
