import { expect, test } from "vitest";
import { makePerson, makeTenant } from "@/testing/tenants";
import { amongOrganizations, EVERY, people } from "./people";

test("a query by Prisma Client that does not name its tenant is refused before it is sent", async () => {
  const { organizationId, projectId, keyId } = await makeTenant();
  const missing = undefined as unknown as string; // a variable that no one has set
  const unbound = [
    () => people.apiKey.findMany(),
    () => people.apiKey.findMany({ where: { revokedAt: null } }),
    () => people.apiKey.findMany({ where: { organizationId: missing } }),
    () => people.apiKey.findMany({ where: { organizationId: { in: missing as never } } }),
    () => people.apiKey.findMany({ where: { organizationId: { in: [missing] } } }),
    () => people.apiKey.findMany({ where: { organizationId: {} } }),
    () => people.apiKey.findMany({ where: { organizationId: { not: organizationId } } }),
    () => people.apiKey.findMany({ where: { organizationId: { in: [organizationId], not: missing } } }),
    () => people.apiKey.findMany({ where: { projectId } }),
    () => people.apiKey.findUnique({ where: { id: keyId } }),
    () => people.apiKey.count({ where: { OR: [{ organizationId }, { projectId: null }] } }),
    () => people.apiKey.findFirst({ where: { NOT: { organizationId } } }),
    () => people.apiKey.updateMany({ where: { environment: "development" }, data: { name: "x" } }),
    () => people.apiKey.upsert({ where: { id: keyId }, create: {} as never, update: {} }),
    () => people.project.findFirst({ where: { status: "active" } }),
    () => people.project.findUnique({ where: { id: projectId } }),
    () => people.project.findMany({ where: { AND: [{ slug: "a" }, { displayName: "b" }] } }),
    () => people.project.findMany({ where: { organization: { displayName: "x" } } }),
    () => people.organization.findMany({}),
    () => people.organization.deleteMany({ where: { displayName: "x" } }),
    () => people.user.findMany({}),
    () => people.user.findMany({ where: { isOperator: false } }),
    () => people.user.findMany({ where: { memberships: { some: { role: "owner" } } } }),
    () => people.user.findMany({ where: { memberships: { none: { organizationId } } } }),
    () => people.user.findMany({ where: { id: keyId }, include: { memberships: true } }),
    () => people.user.findMany({ where: { id: keyId }, select: { memberships: { take: 1 } } }),
    () => people.session.findMany({ where: { kind: "browser" } }),
  ];
  expect(unbound.length).toBeGreaterThan(12);
  for (const query of unbound)
    await expect((async () => query())(), String(query)).rejects.toThrow(/must name its tenant or person/);
});

test("a model, a relation and a nested write that are not listed are refused before they are sent", async () => {
  const { organizationId, projectId } = await makeTenant();
  const others = [
    () => people.job.findMany({ where: { projectId } }),
    () => people.budget.count({ where: { organizationId } }),
    () =>
      people.user.create({
        data: {
          id: "x",
          email: "x",
          displayName: "x",
          memberships: { create: { organizationId, role: "owner" } },
        },
      }),
    () => people.organization.findUnique({ where: { id: organizationId }, include: { apiKeys: true } }),
    () => people.project.findMany({ where: { organizationId }, select: { connections: true } }),
    () =>
      people.project.findMany({
        where: { organizationId },
        include: { organization: { include: { invitations: true } } },
      }),
    () =>
      people.organization.update({
        where: { id: organizationId },
        data: { projects: { deleteMany: {} } },
      }),
  ];
  for (const query of others)
    await expect((async () => query())(), String(query)).rejects.toThrow(/write (a )?statements?/);
});

test("a query that names its tenant, or explicitly all of them, is sent", async () => {
  const { organizationId, projectId, keyId } = await makeTenant();
  const mine = { organizationId: amongOrganizations([organizationId]) };
  expect(await people.apiKey.findMany({ where: mine, select: { id: true } })).toEqual([{ id: keyId }]);
  expect(await people.apiKey.findUnique({ where: { id: keyId, organizationId } })).toMatchObject({
    projectId,
  });
  expect(await people.project.count({ where: { organizationId: amongOrganizations([]) } })).toBe(0);
  const all = await people.project.count({ where: { AND: [{ organizationId: amongOrganizations(null) }] } });
  expect(all).toBeGreaterThan(0);
  const { userId } = await makePerson(organizationId, "viewer");
  const joined = await people.user.findMany({
    where: { id: userId, memberships: { some: mine } },
    select: { id: true, memberships: { where: mine, select: { role: true } } },
  });
  expect(joined).toEqual([{ id: userId, memberships: [{ role: "viewer" }] }]);
  expect(await people.user.count({ where: { id: EVERY } })).toBeGreaterThan(0);
  expect(await people.user.updateMany({ where: { id: userId }, data: { displayName: "Renamed" } })).toEqual({
    count: 1,
  });
});
