import type { CreateManagementKey } from "@/server/contract/management-keys";
import type { NewApiKey } from "@/server/contract/organizations";
import { access, makeKeyText } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import { openCeiling } from "@/server/domain/budgets";
import type { Ctx } from "@/server/domain/ctx";
import {
  auditedFields,
  insertKey,
  keyAuditSubject,
  requireRoomForKey,
  toKey,
} from "@/server/domain/organizations";
import { inTransaction, type Transaction } from "@/server/platform/db";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { text, texts } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/**
 * Takes the place of an environment in the key's text: a management key belongs to none, and a leaked one is
 * recognizable.
 */
const ENVIRONMENT = "management";

/**
 * Creates a management key, which sets up projects by machine and runs nothing. The scopes, projects and hosts
 * that it can grant never change; its ceiling, if it has one, is a budget that all keys created by it share.
 * For signed-in owners of the organization.
 */
export async function createManagementKey(ctx: Ctx, input: CreateManagementKey): Promise<NewApiKey> {
  const { organizationId, name, scopes, projectIds, runScopes, hosts, ceiling, expiresInSeconds } = input;
  if (ctx.principal.kind !== "human_session")
    fail(
      "AuthorizationFailed",
      "Only an owner of the organization can create a management key, in the panel.",
    );
  access.authorize(ctx, "owner", { organizationId });
  const apiKey = makeKeyText(ENVIRONMENT);
  const createdAt = ctx.now();
  const expiresAt = new Date(createdAt.getTime() + expiresInSeconds * 1000);
  const management = { projectIds: [...new Set(projectIds)], runScopes, hosts };
  const made = await inTransaction(async (client) => {
    await requireRoomForKey(client, organizationId, createdAt);
    await requireProjects(client, organizationId, management.projectIds);
    const place = { organizationId, projectId: null, environment: ENVIRONMENT };
    const limits = { scopes, management, madeByKey: null };
    const row = await insertKey(client, ctx, apiKey, { ...place, ...limits, name, expiresAt, createdAt });
    if (ceiling)
      await openCeiling(ctx, client, {
        organizationId,
        principalId: row.id,
        ceilingMicros: ceiling.micros,
        period: ceiling.period,
      });
    const details = { ...auditedFields(row), ...management, ceiling: ceiling ?? null };
    await record(ctx, { ...keyAuditSubject(row), action: "management_key.created", details }, client);
    return row;
  });
  return { ...toKey(made), apiKey };
}

const findProjects = statement("project.find.of_organization", {
  params: { organizationId: text, projectIds: texts },
  row: { id: text },
  sql: "SELECT id FROM project WHERE organization_id = $organizationId AND id = ANY($projectIds)",
});

async function requireProjects(
  client: Transaction,
  organizationId: string,
  projectIds: string[],
): Promise<void> {
  const rows = await findProjects.all(client, { organizationId, projectIds });
  const known = new Set(rows.map(({ id }) => id));
  const place = projectIds.findIndex((id) => !known.has(id));
  if (place < 0) return;
  const msg = "The organization has no such project.";
  throw new ValidationFault([{ loc: ["body", "projectIds", place], msg, type: "not_found" }]);
}
