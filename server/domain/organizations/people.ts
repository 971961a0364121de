import type { z } from "zod";
import { type CreateUser, type GrantOperator, type Person, Role } from "@/server/contract/organizations";
import { access, changeAccess, isOperator, visibleOrganizations } from "@/server/domain/access";
import { INSTALLATION, record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { withSystem } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { chooseOrganization } from "./organizations";
import { takeSeat } from "./seats";
import { hashPassword, makePassword } from "./sign-in/passwords";

const withMemberships = { memberships: { orderBy: { createdAt: "asc" } } } as const;

/** A person who can sign in; `password` is present only if it was generated here. */
export type NewPerson = Person & { password?: string; organizationId: string; role: z.output<typeof Role> };

/**
 * Creates a person and their membership. For admins; only owners create owners. Only operators add an
 * existing account, and its password stays. Others must invite, because joining is the person's decision.
 * InvalidInput then, and if the person already belongs to the organization.
 */
export async function createUser(ctx: Ctx, input: z.output<typeof CreateUser>): Promise<NewPerson> {
  const password = input.password ?? makePassword();
  const passwordHash = await hashPassword(password);
  return changeAccess(async (tx) => {
    const organizationId = await chooseOrganization(tx, ctx, input.organizationId);
    access.authorize(ctx, input.role === "owner" ? "owner" : "admin", { organizationId });
    await takeSeat(tx, organizationId, input.email, ctx.now());
    const known = await tx.user.findUnique({ where: { email: input.email }, include: withMemberships });
    if (known?.memberships.some((membership) => membership.organizationId === organizationId)) {
      fail("InvalidInput", "This person already belongs to the organization.");
    }
    if (known && !isOperator(ctx))
      fail(
        "InvalidInput",
        "This person already has an account. Send them an invitation so that they can choose to join.",
      );
    const id = known?.id ?? newId("user");
    if (!known) {
      const displayName = input.displayName ?? input.email.slice(0, input.email.indexOf("@"));
      await tx.user.create({
        data: { id, email: input.email, displayName, passwordHash, createdAt: ctx.now() },
      });
    }
    await tx.membership.create({
      data: { userId: id, organizationId, role: input.role, createdAt: ctx.now() },
    });
    const details = { email: input.email, role: input.role, isNew: !known };
    await record(ctx, { organizationId, subject: id, action: "member.added", details }, tx);
    const row = await tx.user.findUniqueOrThrow({ where: { id }, include: withMemberships });
    const madeUp = known || input.password ? {} : { password };
    return { ...toPerson(row, visibleOrganizations(ctx)), ...madeUp, organizationId, role: input.role };
  });
}

/** The people of the caller's organizations, oldest first; an operator sees all. */
export async function listUsers(ctx: Ctx, organizationId?: string): Promise<Person[]> {
  const visible = visibleOrganizations(ctx);
  const membership = {
    ...(visible ? { organizationId: { in: visible } } : {}),
    ...(organizationId ? { AND: { organizationId } } : {}),
  };
  const everybody = isOperator(ctx) && !organizationId;
  const rows = await withSystem((tx) =>
    tx.user.findMany({
      where: everybody ? {} : { memberships: { some: membership } },
      orderBy: [{ createdAt: "asc" }, { id: "asc" }],
      include: withMemberships,
    }),
  );
  return rows.map((row) => toPerson(row, visible));
}

/**
 * Makes a person an operator of the whole installation. Operators only. NotFound if no account has this
 * address.
 */
export async function grantOperator(ctx: Ctx, { email }: z.output<typeof GrantOperator>): Promise<Person> {
  access.authorize(ctx, "operator");
  return changeAccess(async (tx) => {
    const known = await tx.user.findUnique({ where: { email }, select: { id: true } });
    if (!known) fail("NotFound", "No account has this email address.");
    const row = await tx.user.update({
      where: { id: known.id },
      data: { isOperator: true },
      include: withMemberships,
    });
    const act = { organizationId: INSTALLATION, subject: known.id, action: "operator.granted" };
    await record(ctx, { ...act, details: { email } }, tx);
    return toPerson(row, null);
  });
}

/** The operators of this installation. Operators only. */
export async function listOperators(ctx: Ctx): Promise<Person[]> {
  access.authorize(ctx, "operator");
  const rows = await withSystem((tx) =>
    tx.user.findMany({
      where: { isOperator: true },
      orderBy: { createdAt: "asc" },
      include: withMemberships,
    }),
  );
  return rows.map((row) => toPerson(row, null));
}

type PersonRow = {
  id: string;
  email: string;
  displayName: string;
  isOperator: boolean;
  createdAt: Date;
  memberships: { organizationId: string; role: string }[];
};

/** `visible`: the organizations whose memberships the reader may see; null means all. */
function toPerson(row: PersonRow, visible: string[] | null): Person {
  const known = row.memberships.filter(({ organizationId }) => !visible || visible.includes(organizationId));
  return {
    userId: row.id,
    email: row.email,
    displayName: row.displayName,
    isOperator: row.isOperator,
    memberships: known.map(({ organizationId, role }) => ({ organizationId, role: Role.parse(role) })),
    createdAt: row.createdAt.toISOString(),
  };
}
