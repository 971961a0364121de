import { hash } from "node:crypto";
import type { EmbedSession, EmbedSessionCreate, NewEmbedSession } from "@/server/contract/embeds";
import { access, changeAccessBy, makeTokenText } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import { openCeiling } from "@/server/domain/budgets";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { inTransaction, pool, type Queryable, type Transaction } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { MINUTE_MS } from "@/server/platform/time/units";
import { LOOK, MAKE, toChange } from "./definitions";
import { checkInputs } from "./inputs";
import {
  type DefinitionRow,
  noSuchSession,
  readDefinitions,
  readSessions,
  type SessionRow,
  toSession,
} from "./rows";

const invalid = (field: (string | number)[], msg: string, type = "value_error"): never => {
  throw new ValidationFault([{ loc: ["body", ...field], msg, type }]);
};

/**
 * Makes a session: a right to run, watch and cancel its own jobs, for pages of its origins, until it expires. Its token is in
 * the answer and nowhere else. Its cap of money is a ceiling of its own, which the statement that admits its jobs holds.
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
    await client.query(
      `INSERT INTO panel_session (id, organization_id, project_id, environment, version_id, allowed_origins, external_subject,
         max_spend_micros, max_jobs, initial_inputs, locked_inputs, created_by, created_by_kind, created_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
      [
        id,
        project.organizationId,
        project.id,
        environment,
        definition?.version_id ?? null,
        [...new Set(input.allowedOrigins)],
        input.externalSubject ?? null,
        input.maxSpendMicros,
        input.maxJobs,
        JSON.stringify(input.initialInputs),
        JSON.stringify(input.lockedInputs),
        ctx.principal.id,
        ctx.principal.kind,
        now,
        expiresAt,
      ],
    );
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
    await record(ctx, { ...actOn(project, id), action: "panel_session.created", details }, client);
    const [row] = await readSessions(client, "s.id = $1", [id]);
    return { ...toSession(row ?? noSuchSession(), now), accessToken };
  });
}

/** No one hands out what they do not hold: a session runs, reads and cancels. */
export function requireGiven(ctx: Ctx): void {
  for (const right of [MAKE, "jobs:read", "jobs:write"] as const) access.authorize(ctx, right);
}

export const actOn = (project: { id: string; organizationId: string }, subject: string) => ({
  organizationId: project.organizationId,
  projectId: project.id,
  subject,
});

/** A new access token of a session; of its text the row has the hash alone. */
export async function insertToken(ctx: Ctx, client: Queryable, sessionId: string): Promise<string> {
  const token = makeTokenText("capp");
  await client.query("INSERT INTO panel_token (hash, session_id, created_at) VALUES ($1, $2, $3)", [
    hash("sha256", token, "buffer"),
    sessionId,
    ctx.now(),
  ]);
  return token;
}

/**
 * What a session spends counts against its own cap and the person behind it, but not against a key's ceiling: neither its own
 * nor, after a rotation, that of its heirs, which is its own until it ends.
 */
export async function refuseEscape(ctx: Ctx, organizationId: string): Promise<void> {
  if (ctx.principal.kind !== "service_principal") return;
  if (ctx.principal.madeByKey)
    fail(
      "AuthorizationFailed",
      "A management key created this key, and its limit would not apply to embed sessions. Use another key.",
    );
  const { rowCount } = await pool.query(
    `SELECT FROM budget WHERE organization_id = $1 AND scope = ANY($2 || capstan_key_successors($3)) AND enforcement <> 'off'`,
    [organizationId, [`principal:${ctx.principal.id}`], ctx.principal.id],
  );
  if (rowCount)
    fail(
      "AuthorizationFailed",
      "This key has its own budget, which would not apply to its embed sessions. Use a key without a budget.",
    );
}

/** Keeps who makes a session from losing the right meanwhile: the database ends the sessions that are there then. */
async function holdMaker({ principal }: Ctx, client: Queryable, organizationId: string): Promise<void> {
  const held =
    principal.kind === "service_principal"
      ? await client.query("SELECT FROM api_key WHERE id = $1 AND revoked_at IS NULL FOR SHARE", [
          principal.id,
        ])
      : await client.query(
          "SELECT FROM membership WHERE user_id = $1 AND organization_id = $2 AND role <> 'viewer' FOR SHARE",
          [principal.id, organizationId],
        );
  if (held.rowCount === 0)
    fail("AuthenticationFailed", "This key or session is not valid. Use another key, or sign in again.");
}

type Named = Pick<EmbedSessionCreate, "panelDefinitionId" | "panelDefinitionKey">;

/** The definition a session is of: by its id, or by its key in the project or else in the organization. Null: none is named. */
async function definitionFor(
  project: { id: string; organizationId: string },
  { panelDefinitionId: id, panelDefinitionKey: key }: Named,
): Promise<DefinitionRow | null> {
  if (!id && !key) return null;
  const [row] = await readDefinitions(
    pool,
    `d.organization_id = $1 AND (d.project_id IS NULL OR d.project_id = $2) AND ($3::text IS NULL OR d.id = $3)
     AND ($4::text IS NULL OR d.key = $4) ORDER BY d.project_id NULLS LAST LIMIT 1`,
    [project.organizationId, project.id, id ?? null, key ?? null],
  );
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

const VISIBLE = `($1::text[] IS NULL OR s.organization_id = ANY($1)) AND ($2::text IS NULL OR s.project_id = $2)`;

/** A session of the caller's projects; somebody else's and none at all are the same NotFound. */
async function findSession(ctx: Ctx, sessionId: string, right: Scope): Promise<SessionRow> {
  const scope = access.authorize(ctx, right, "rows");
  const [row] = await readSessions(pool, `${VISIBLE} AND s.id = $3`, [
    scope.organizationIds,
    scope.projectId,
    sessionId,
  ]);
  return row ?? noSuchSession();
}

export async function getSession(ctx: Ctx, sessionId: string): Promise<EmbedSession> {
  return toSession(await findSession(ctx, sessionId, LOOK), ctx.now());
}

/** Ends a session: once this has answered, no request anywhere is served by its tokens. Its jobs go on. Again changes nothing. */
export async function revokeSession(ctx: Ctx, sessionId: string): Promise<EmbedSession> {
  const known = await mayChange(ctx, sessionId);
  const revoke = async (client: Transaction) => {
    const { rowCount } = await client.query(
      "UPDATE panel_session SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL",
      [sessionId, ctx.now()],
    );
    const project = { id: known.project_id, organizationId: known.organization_id };
    if (rowCount)
      await record(ctx, { ...actOn(project, sessionId), action: "panel_session.revoked" }, client);
  };
  if (!known.revoked_at) await changeAccessBy(revoke);
  return toSession(await findSession(ctx, sessionId, MAKE), ctx.now());
}

/** A session that the caller sees, in a project where they may make one. */
export async function mayChange(ctx: Ctx, sessionId: string): Promise<SessionRow> {
  const row = await findSession(ctx, sessionId, toChange(ctx));
  await access.authorize(ctx, MAKE, { projectId: row.project_id });
  return row;
}
