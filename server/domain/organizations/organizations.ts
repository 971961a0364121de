import type { z } from "zod";
import type { CreateOrganization, Organization } from "@/server/contract/organizations";
import type { OrganizationDetail, OrganizationUpdate } from "@/server/contract/projects";
import { access, membershipsOf, visibleOrganizations } from "@/server/domain/access";
import { record } from "@/server/domain/audit";
import type { Ctx, Role } from "@/server/domain/ctx";
import { organization } from "@/server/generated/schema";
import { inTransaction, type Transaction } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { maybe, text, texts, timestamptz } from "@/server/sql/column";
import { amongOrganizations, people } from "@/server/sql/people";
import { statement } from "@/server/sql/statement";

/** Creates an organization. Operators only. */
export async function createOrganization(
  ctx: Ctx,
  { name }: z.output<typeof CreateOrganization>,
): Promise<Organization> {
  access.authorize(ctx, "operator");
  const row = { id: newId("organization"), displayName: name, createdAt: ctx.now() };
  await inTransaction((client) => insertOrganization(client, ctx, row));
  return toOrganization(row);
}

const insert = statement("organization.insert", {
  params: { id: text, displayName: text, createdAt: timestamptz },
  sql: "INSERT INTO organization (id, display_name, created_at) VALUES ($id, $displayName, $createdAt)",
});

/** Inserts an organization, and records its creation in the audit log. */
export async function insertOrganization(
  client: Transaction,
  ctx: Ctx,
  row: { id: string; displayName: string; createdAt: Date },
): Promise<void> {
  await insert.run(client, row);
  const act = { organizationId: row.id, subject: row.id, action: "organization.created" };
  await record(ctx, { ...act, details: { displayName: row.displayName } }, client);
}

/** One organization. NotFound for strangers. */
export async function getOrganization(ctx: Ctx, organizationId: string): Promise<OrganizationDetail> {
  access.authorize(ctx, "viewer", { organizationId });
  const row = await people.organization.findUnique({ where: { id: organizationId } });
  return toDetail(ctx, row ?? fail("NotFound", "There is no such organization."));
}

/** The organizations the caller belongs to, oldest first, with their role in each; an operator sees all. */
export async function listOwnOrganizations(ctx: Ctx): Promise<OrganizationDetail[]> {
  const rows = await listOrganizations(ctx);
  return rows.map(({ organizationId, displayName, createdAt }) =>
    toDetail(ctx, { id: organizationId, displayName, createdAt: new Date(createdAt) }),
  );
}

const rename = statement("organization.update.display_name", {
  params: { organizationId: text, displayName: organization.display_name },
  row: { created_at: organization.created_at, before: organization.display_name },
  sql: `WITH old AS (SELECT id, display_name FROM organization WHERE id = $organizationId FOR NO KEY UPDATE)
       UPDATE organization SET display_name = $displayName FROM old WHERE organization.id = old.id
       RETURNING old.display_name AS before, created_at`,
});

/** Renames an organization. For admins. */
export async function changeOrganization(
  ctx: Ctx,
  organizationId: string,
  { displayName }: OrganizationUpdate,
): Promise<OrganizationDetail> {
  access.authorize(ctx, "admin", { organizationId });
  return inTransaction(async (client) => {
    const row =
      (await rename.first(client, { organizationId, displayName })) ??
      fail("NotFound", "There is no such organization.");
    const act = { organizationId, subject: organizationId, action: "organization.renamed" };
    await record(ctx, { ...act, details: { before: row.before, after: displayName } }, client);
    return toDetail(ctx, { id: organizationId, displayName, createdAt: row.created_at });
  });
}

type Row = { id: string; displayName: string; createdAt: Date };

function toDetail(ctx: Ctx, row: Row): OrganizationDetail {
  return { id: row.id, ...toOrganization(row), role: membershipsOf(ctx).get(row.id) ?? null };
}

/** The organizations the caller belongs to, oldest first; an operator sees all. */
export async function listOrganizations(ctx: Ctx): Promise<Organization[]> {
  const visible = visibleOrganizations(ctx);
  const rows = await readOrganizations(amongOrganizations(visible));
  return rows.map(toOrganization);
}

/**
 * The organizations that a person is a member of, oldest first, with their role. An operator gets only those
 * they joined.
 */
export async function listJoinedOrganizations(ctx: Ctx): Promise<(Organization & { role: Role })[]> {
  const memberships = membershipsOf(ctx);
  const rows = await readOrganizations({ in: [...memberships.keys()] });
  return rows.map((row) => ({ ...toOrganization(row), role: memberships.get(row.id)! })); // read by these ids
}

const readOrganizations = (id: ReturnType<typeof amongOrganizations>): Promise<Row[]> =>
  people.organization.findMany({ where: { id }, orderBy: [{ createdAt: "asc" }, { id: "asc" }] });

const choose = statement("organization.find.visible", {
  params: { visible: maybe(texts), organizationId: maybe(text) },
  row: { id: text },
  sql: `SELECT id FROM organization WHERE ($visible::text[] IS NULL OR id = ANY($visible))
    AND ($organizationId::text IS NULL OR id = $organizationId) ORDER BY created_at, id LIMIT 1`,
});

/** The named organization, or the oldest one that the caller sees. NotFound if there is none. */
export async function chooseOrganization(
  client: Transaction,
  ctx: Ctx,
  organizationId: string | undefined,
): Promise<string> {
  const row = await choose.first(client, { visible: visibleOrganizations(ctx), organizationId });
  return row?.id ?? fail("NotFound", "There is no such organization.");
}

function toOrganization(row: Row): Organization {
  return { organizationId: row.id, displayName: row.displayName, createdAt: row.createdAt.toISOString() };
}
