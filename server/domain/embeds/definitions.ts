import type { EmbedDefinition, EmbedDefinitionCreate, EmbedDefinitionPatch } from "@/server/contract/embeds";
import { access, changeAccessBy } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import { getCapability, isCapability } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { inTransaction, pool, type Transaction } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { canonicalText } from "@/server/platform/text/canonical";
import { type DefinitionRow, noSuchDefinition, readDefinitions, toDefinition } from "./rows";

/** The rights a panel is made and looked at with. */
export const MAKE = "capabilities:run";
export const LOOK = "jobs:read";
/** A person who may see a panel learns why they may not change it. A key's scopes are no ladder: one alone is enough. */
export const toChange = (ctx: Ctx) => (ctx.principal.kind === "human_session" ? LOOK : MAKE);

const invalid = (field: string, msg: string, type = "value_error"): never => {
  throw new ValidationFault([{ loc: ["body", field], msg, type }]);
};

/** Makes a panel of a project, or of every project of an organization. Its key is one there. */
export async function createDefinition(
  ctx: Ctx,
  input: EmbedDefinitionCreate & { organizationId?: string | undefined },
): Promise<EmbedDefinition> {
  const { organizationId, projectId } = await placeOf(ctx, input.projectId ?? null, input.organizationId);
  checkCapability(input.capabilityKey, input.capabilityVersion);
  const id = newId("panelDefinition");
  const now = ctx.now();
  return inTransaction(async (client) => {
    const { rowCount } = await client.query(
      `INSERT INTO panel_definition (id, organization_id, project_id, key, display_name, origin, created_by, created_at, updated_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) ON CONFLICT DO NOTHING`,
      [id, organizationId, projectId, input.key, input.displayName, input.origin, ctx.principal.id, now],
    );
    if (!rowCount) invalid("key", "Another embed already has this key. Choose another.", "duplicate");
    await insertVersion(
      ctx,
      client,
      { definitionId: id, number: 1 },
      {
        ...input,
        capabilityKey: input.capabilityKey ?? null,
        capabilityVersion: input.capabilityVersion ?? null,
      },
    );
    const made = await readOne(client, id);
    const details = { key: made.key, capabilityKey: made.currentVersion.capabilityKey };
    await record(ctx, { organizationId, projectId, action: "panel.created", subject: id, details }, client);
    return made;
  });
}

type Content = Pick<
  EmbedDefinition["currentVersion"],
  "presentation" | "policy" | "allowedOrigins" | "actions"
> & {
  capabilityKey: string | null;
  capabilityVersion: string | null;
};

async function insertVersion(
  ctx: Ctx,
  client: Transaction,
  { definitionId, number }: { definitionId: string; number: number },
  content: Content,
): Promise<void> {
  await client.query(
    `INSERT INTO panel_version (id, definition_id, number, capability_key, capability_version, presentation, policy,
       allowed_origins, actions, created_by, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      newId("panelVersion"),
      definitionId,
      number,
      content.capabilityKey,
      content.capabilityVersion,
      JSON.stringify(content.presentation),
      JSON.stringify(content.policy),
      [...new Set(content.allowedOrigins)],
      JSON.stringify(content.actions),
      ctx.principal.id,
      ctx.now(),
    ],
  );
}

/** The versions of a capability are keys of their own: it ends in the one it is. */
function checkCapability(key: string | null | undefined, version: string | null | undefined): void {
  if (version && !key) invalid("capabilityVersion", "The capability is missing. Send it as well.");
  if (!key) return;
  if (!isCapability(key)) invalid("capabilityKey", `There is no capability ${key}.`, "not_found");
  if (!getCapability(key).modes.includes("job_async"))
    invalid("capabilityKey", `${key} does not run as a durable job, and an embed runs only those.`);
  const own = /\.(v\d+)$/.exec(key)?.[1];
  if (version && version !== own && version !== own?.slice(1))
    invalid("capabilityVersion", `${key} has the version ${own}.`);
}

/** Where a new panel belongs: a project, the organization that is named, or the only one the caller can mean. */
async function placeOf(
  ctx: Ctx,
  wanted: string | null,
  organizationId: string | undefined,
): Promise<{ organizationId: string; projectId: string | null }> {
  const { principal } = ctx;
  const bound = principal.kind === "service_principal" ? principal.projectId : null;
  if (wanted ?? bound) {
    const project = await access.authorize(ctx, MAKE, { projectId: wanted ?? bound });
    return { organizationId: project.organizationId, projectId: project.id };
  }
  const allowed = access.authorize(ctx, MAKE, "rows").organizationIds ?? [];
  const [only, ...others] = organizationId ? allowed.filter((id) => id === organizationId) : allowed;
  if (!only)
    return fail(
      "AuthorizationFailed",
      "Your role does not allow this in any of your organizations. Ask an owner or admin.",
    );
  if (others.length > 0)
    invalid("projectId", "You belong to several organizations. Name a project.", "missing");
  return { organizationId: only, projectId: null };
}

/** What of the definitions `d` the caller may see; of a key of one project, that project's and those of all. */
export const VISIBLE = `($1::text[] IS NULL OR d.organization_id = ANY($1))
  AND ($2::text IS NULL OR d.project_id IS NULL OR d.project_id = $2)`;

/** Panels of the caller's organizations; those that one project can use where it is named. Archived ones are left out. */
export async function listDefinitions(
  ctx: Ctx,
  query: { projectId?: string | undefined; includeArchived?: boolean },
): Promise<{ definitions: EmbedDefinition[] }> {
  const project = query.projectId ? await access.authorize(ctx, LOOK, { projectId: query.projectId }) : null;
  const scope = access.authorize(ctx, LOOK, "rows");
  const rows = await readDefinitions(
    pool,
    `${VISIBLE} AND ($3::text IS NULL OR d.organization_id = $3) AND ($4 OR d.status <> 'archived') ORDER BY d.id DESC`,
    [
      scope.organizationIds,
      project?.id ?? scope.projectId,
      project?.organizationId ?? null,
      query.includeArchived === true,
    ],
  );
  return { definitions: rows.map(toDefinition) };
}

export async function getDefinition(ctx: Ctx, definitionId: string): Promise<EmbedDefinition> {
  const scope = access.authorize(ctx, LOOK, "rows");
  const [row] = await readDefinitions(pool, `${VISIBLE} AND d.id = $3`, [
    scope.organizationIds,
    scope.projectId,
    definitionId,
  ]);
  return toDefinition(row ?? noSuchDefinition());
}

/**
 * Changes a panel. What changes what runs or how it looks makes a new version, for sessions made from then on; a status
 * that is not active stops all its sessions, and active lets those go on that have time left.
 */
export async function changeDefinition(
  ctx: Ctx,
  definitionId: string,
  patch: EmbedDefinitionPatch,
): Promise<EmbedDefinition> {
  const known = await mayChange(ctx, definitionId);
  // Of all this only the status is remembered about callers; a status it has already is none that is written.
  const status = patch.status === known.status ? null : patch.status;
  const change = status ? changeAccessBy : inTransaction;
  return change(async (client) => {
    await client.query("SELECT FROM panel_definition WHERE id = $1 FOR UPDATE", [definitionId]);
    const before = (await readDefinitions(client, "d.id = $1", [definitionId]))[0] ?? noSuchDefinition();
    const content = contentOf(before, patch);
    const isNew = canonicalText(content) !== canonicalText(contentOf(before, {}));
    const number = before.version + (isNew ? 1 : 0);
    if (isNew) await insertVersion(ctx, client, { definitionId, number }, content);
    await client.query(
      `UPDATE panel_definition SET display_name = coalesce($2, display_name), status = coalesce($3, status),
         origin = coalesce($4, origin), version = $5, updated_at = $6 WHERE id = $1`,
      [definitionId, patch.displayName, status, patch.origin, number, ctx.now()],
    );
    const details = { status: status ?? before.status, version: number };
    const { organization_id: organizationId, project_id: projectId } = known;
    await record(
      ctx,
      { organizationId, projectId, action: "panel.changed", subject: definitionId, details },
      client,
    );
    return readOne(client, definitionId);
  });
}

const contentOf = (row: DefinitionRow, patch: EmbedDefinitionPatch): Content => ({
  capabilityKey: row.capability_key,
  capabilityVersion: row.capability_version,
  presentation: patch.presentation ?? row.presentation,
  policy: patch.policy ?? row.policy,
  allowedOrigins: patch.allowedOrigins ?? row.allowed_origins,
  actions: patch.actions ?? row.actions,
});

/** One that the caller sees and may change: of its project, or with a right in the whole organization. */
async function mayChange(ctx: Ctx, definitionId: string): Promise<DefinitionRow> {
  const scope = access.authorize(ctx, toChange(ctx), "rows");
  const [row] = await readDefinitions(pool, `${VISIBLE} AND d.id = $3`, [
    scope.organizationIds,
    scope.projectId,
    definitionId,
  ]);
  if (!row) return noSuchDefinition();
  if (row.project_id) {
    await access.authorize(ctx, MAKE, { projectId: row.project_id });
    return row;
  }
  const allowed = access.authorize(ctx, MAKE, "rows").organizationIds;
  if (scope.projectId !== null || !(allowed?.includes(row.organization_id) ?? true))
    fail(
      "AuthorizationFailed",
      "This embed belongs to the whole organization, and your access is limited to a project. Ask an admin of the organization.",
    );
  return row;
}

async function readOne(client: Transaction, id: string): Promise<EmbedDefinition> {
  return toDefinition((await readDefinitions(client, "d.id = $1", [id]))[0] ?? noSuchDefinition());
}
