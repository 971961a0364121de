import type { z } from "zod";
import type { CreateOrganization, Organization } from "@/server/contract/organizations";
import { type Tx, withSystem } from "@/server/db";
import { requireOperator } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { fail } from "@/server/errors";
import { newId } from "@/server/ids";
import { visibleOrganizations } from "./rights";

/** Makes an organization. Operators only. */
export async function createOrganization(
  ctx: Ctx,
  { name }: z.output<typeof CreateOrganization>,
): Promise<Organization> {
  requireOperator(ctx);
  const data = { id: newId("organization"), displayName: name, createdAt: ctx.now() };
  return toOrganization(await withSystem((tx) => tx.organization.create({ data })));
}

/** The organizations the caller belongs to, oldest first; an operator sees all. */
export async function listOrganizations(ctx: Ctx): Promise<Organization[]> {
  const visible = visibleOrganizations(ctx);
  const rows = await withSystem((tx) =>
    tx.organization.findMany({
      where: visible ? { id: { in: visible } } : {},
      orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    }),
  );
  return rows.map(toOrganization);
}

/** The organization named, or the oldest one the caller sees. NotFound when there is none. */
export async function chooseOrganization(
  tx: Tx,
  ctx: Ctx,
  organizationId: string | undefined,
): Promise<string> {
  const visible = visibleOrganizations(ctx);
  const row = await tx.organization.findFirst({
    where: { AND: [visible ? { id: { in: visible } } : {}, organizationId ? { id: organizationId } : {}] },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    select: { id: true },
  });
  return row?.id ?? fail("NotFound", "There is no such organization.");
}

function toOrganization(row: { id: string; displayName: string; createdAt: Date }): Organization {
  return { organizationId: row.id, displayName: row.displayName, createdAt: row.createdAt.toISOString() };
}
