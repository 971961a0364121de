import type { EmbedDefinition, EmbedDefinitionCreate, EmbedDefinitionPatch } from "@/server/contract/embeds";
import { access, changeAccess } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import { getCapability, isCapability } from "@/server/domain/catalog";
import type { Ctx } from "@/server/domain/ctx";
import { panelDefinition, panelVersion } from "@/server/generated/schema";
import { inTransaction, type Transaction } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { canonicalText } from "@/server/platform/text/canonical";
import { bool, maybe, pick, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { inScope, readInScope, SCOPE } from "@/server/sql/tenant";
import { type DefinitionRow, definitionsWhere, noSuchDefinition, toDefinition } from "./rows";

/** Rights to create an embed, and to see one. */
export const MAKE = "capabilities:run";
export const LOOK = "jobs:read";
/**
 * The right by which a caller who wants to change an embed finds it. A person who may see it then gets an error
 * that explains why they may not change it. The scopes of a key do not include each other, so a key needs only
 * the right to create.
 */
export const toChange = (ctx: Ctx) => (ctx.principal.kind === "human_session" ? LOOK : MAKE);

const invalid = (field: string, msg: string, type = "value_error"): never => {
  throw new ValidationFault([{ loc: ["body", field], msg, type }]);
};

const insertDefinition = statement("embed_definition.insert", {
  params: {
    definitionId: panelDefinition.id,
    organizationId: panelDefinition.organization_id,
    projectId: panelDefinition.project_id,
    key: panelDefinition.key,
    displayName: panelDefinition.display_name,
    origin: panelDefinition.origin,
    principalId: panelDefinition.created_by,
    now: timestamptz,
  },
  sql: `INSERT INTO panel_definition (id, organization_id, project_id, key, display_name, origin, created_by, created_at, updated_at)
       VALUES ($definitionId, $organizationId, $projectId, $key, $displayName, $origin, $principalId, $now, $now) ON CONFLICT DO NOTHING`,
});

/** Creates an embed of a project, or of every project of an organization. Its key must be unique there. */
export async function createDefinition(
  ctx: Ctx,
  input: EmbedDefinitionCreate & { organizationId?: string | undefined },
): Promise<EmbedDefinition> {
  const { organizationId, projectId } = await placeOf(ctx, input.projectId ?? null, input.organizationId);
  checkCapability(input.capabilityKey, input.capabilityVersion);
  const id = newId("panelDefinition");
  const now = ctx.now();
  return inTransaction(async (client) => {
    const rowCount = await insertDefinition.count(client, {
      definitionId: id,
      organizationId,
      projectId,
      key: input.key,
      displayName: input.displayName,
      origin: input.origin,
      principalId: ctx.principal.id,
      now,
    });
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

const addVersion = statement("embed_version.insert", {
  params: {
    versionId: panelVersion.id,
    definitionId: panelVersion.definition_id,
    number: panelVersion.number,
    capabilityKey: panelVersion.capability_key,
    capabilityVersion: panelVersion.capability_version,
    presentation: panelVersion.presentation,
    policy: panelVersion.policy,
    allowedOrigins: panelVersion.allowed_origins,
    actions: panelVersion.actions,
    principalId: panelVersion.created_by,
    now: timestamptz,
  },
  sql: `INSERT INTO panel_version (id, definition_id, number, capability_key, capability_version, presentation, policy,
       allowed_origins, actions, created_by, created_at)
     VALUES ($versionId, $definitionId, $number, $capabilityKey, $capabilityVersion, $presentation, $policy, $allowedOrigins, $actions, $principalId, $now)`,
});

async function insertVersion(
  ctx: Ctx,
  client: Transaction,
  { definitionId, number }: { definitionId: string; number: number },
  content: Content,
): Promise<void> {
  await addVersion.run(client, {
    versionId: newId("panelVersion"),
    definitionId,
    number,
    capabilityKey: content.capabilityKey,
    capabilityVersion: content.capabilityVersion,
    presentation: content.presentation,
    policy: content.policy,
    allowedOrigins: [...new Set(content.allowedOrigins)],
    actions: content.actions,
    principalId: ctx.principal.id,
    now: ctx.now(),
  });
}

/** A capability's version is the end of its key, so a stated version must equal it. */
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

/** The place of a new embed: a project, the named organization, or the only one that the caller can mean. */
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

const VISIBLE = pick(SCOPE, "organizationIds projectId");
/**
 * SQL condition on definitions `d` that the caller may see; for a key of one project, that project's and
 * organization-wide ones.
 */
const IS_VISIBLE = `${inScope(pick(SCOPE, "organizationIds"), "d")}
  AND ($projectId::text IS NULL OR d.project_id IS NULL OR d.project_id = $projectId)`;

const listVisible = definitionsWhere(
  "embed_definition.list.visible",
  { ...VISIBLE, organizationId: maybe(text), includeArchived: bool },
  `${IS_VISIBLE} AND ($organizationId::text IS NULL OR d.organization_id = $organizationId)
   AND ($includeArchived OR d.status <> 'archived') ORDER BY d.id DESC`,
);
const readVisible = definitionsWhere(
  "embed_definition.read.visible",
  { ...VISIBLE, definitionId: text },
  `${IS_VISIBLE} AND d.id = $definitionId`,
);
const readDefinition = definitionsWhere(
  "embed_definition.read",
  { definitionId: text },
  "d.id = $definitionId",
);

/**
 * Embeds of the caller's organizations, or only those that a named project can use. Archived ones are left
 * out unless requested.
 */
export async function listDefinitions(
  ctx: Ctx,
  query: { projectId?: string | undefined; includeArchived?: boolean },
): Promise<{ definitions: EmbedDefinition[] }> {
  const project = query.projectId ? await access.authorize(ctx, LOOK, { projectId: query.projectId }) : null;
  const scope = access.authorize(ctx, LOOK, "rows");
  const visible = { ...scope, projectId: project?.id ?? scope.projectId };
  const rows = await readInScope(listVisible, visible, {
    organizationId: project?.organizationId,
    includeArchived: query.includeArchived === true,
  });
  return { definitions: rows.map(toDefinition) };
}

export async function getDefinition(ctx: Ctx, definitionId: string): Promise<EmbedDefinition> {
  const [row] = await readInScope(readVisible, access.authorize(ctx, LOOK, "rows"), { definitionId });
  return toDefinition(row ?? noSuchDefinition());
}

const lockDefinition = statement("embed_definition.lock", {
  params: { definitionId: text },
  sql: `SELECT FROM panel_definition WHERE id = $definitionId FOR UPDATE`,
});

const updateDefinition = statement("embed_definition.update.given", {
  params: {
    definitionId: text,
    displayName: maybe(text),
    status: maybe(panelDefinition.status),
    origin: maybe(panelDefinition.origin),
    number: panelDefinition.version,
    now: timestamptz,
  },
  sql: `UPDATE panel_definition SET display_name = coalesce($displayName, display_name), status = coalesce($status, status),
         origin = coalesce($origin, origin), version = $number, updated_at = $now WHERE id = $definitionId`,
});

/**
 * Changes an embed. A change of its content or its look makes a new version, for sessions created from then
 * on. An inactive status stops all of its sessions, and reactivating it resumes those that have time left.
 */
export async function changeDefinition(
  ctx: Ctx,
  definitionId: string,
  patch: EmbedDefinitionPatch,
): Promise<EmbedDefinition> {
  const known = await mayChange(ctx, definitionId);
  // Caches of callers hold only the status, so only a changed status is announced.
  const status = patch.status === known.status ? null : patch.status;
  const change = status ? changeAccess : inTransaction;
  return change(async (client) => {
    await lockDefinition.run(client, { definitionId });
    const before = (await readDefinition.first(client, { definitionId })) ?? noSuchDefinition();
    const content = contentOf(before, patch);
    const isNew = canonicalText(content) !== canonicalText(contentOf(before, {}));
    const number = before.version + (isNew ? 1 : 0);
    if (isNew) await insertVersion(ctx, client, { definitionId, number }, content);
    await updateDefinition.run(client, {
      definitionId,
      displayName: patch.displayName,
      status,
      origin: patch.origin,
      number,
      now: ctx.now(),
    });
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

/**
 * An embed that the caller sees and may change: one of a project in which they may create embeds, or one of the
 * whole organization if their access is not limited to a project.
 */
async function mayChange(ctx: Ctx, definitionId: string): Promise<DefinitionRow> {
  const scope = access.authorize(ctx, toChange(ctx), "rows");
  const [row] = await readInScope(readVisible, scope, { definitionId });
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
  return toDefinition((await readDefinition.first(client, { definitionId: id })) ?? noSuchDefinition());
}
