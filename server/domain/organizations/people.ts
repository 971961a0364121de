import type { z } from "zod";
import { type CreateUser, type GrantOperator, type Person, Role } from "@/server/contract/organizations";
import { access, changeAccess, isOperator, visibleOrganizations } from "@/server/domain/access";
import { INSTALLATION, record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { membership, userAccount } from "@/server/generated/schema";
import { fail } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { json, maybe, type Of, pick, text, texts, timestamptz } from "@/server/sql/column";
import { amongOrganizations, EVERY, people } from "@/server/sql/people";
import { statement } from "@/server/sql/statement";
import { chooseOrganization } from "./organizations";
import { takeSeat } from "./seats";
import { hashPassword, makePassword } from "./sign-in/passwords";

/** The fields of a person that others see, without secrets, and the memberships in these organizations; null means all. */
const personFields = (visible: string[] | null) =>
  ({
    ...{ id: true, email: true, displayName: true, isOperator: true, createdAt: true },
    memberships: { where: { organizationId: amongOrganizations(visible) }, orderBy: { createdAt: "asc" } },
  }) as const;

/** The same fields for statements, under the names of Prisma Client. */
const PERSON = {
  ...pick(userAccount, "id email"),
  displayName: userAccount.display_name,
  isOperator: userAccount.is_operator,
  createdAt: userAccount.created_at,
  memberships: json<{ organizationId: string; role: string }[] | null>(),
};
type PersonRow = Of<typeof PERSON>;
const PERSON_COLUMNS = `id, email, display_name AS "displayName", is_operator AS "isOperator", created_at AS "createdAt",
  (SELECT json_agg(json_build_object('organizationId', organization_id, 'role', role) ORDER BY membership.created_at)
   FROM membership WHERE user_id = user_account.id) AS memberships`;

const findByEmail = statement("user.find.by_email", {
  params: { email: text },
  row: { id: text, organization_ids: texts },
  sql: `SELECT id, ARRAY(SELECT organization_id FROM membership WHERE user_id = user_account.id) AS organization_ids
    FROM user_account WHERE email = $email`,
});
const readPerson = statement("user.read.person", {
  params: { id: text },
  row: PERSON,
  sql: `SELECT ${PERSON_COLUMNS} FROM user_account WHERE id = $id`,
});
const makeOperator = statement("user.update.operator", {
  params: { email: text },
  row: PERSON,
  sql: `UPDATE user_account SET is_operator = true WHERE email = $email RETURNING ${PERSON_COLUMNS}`,
});
const insertUser = statement("user.insert", {
  params: { id: text, email: text, displayName: text, passwordHash: maybe(text), createdAt: timestamptz },
  sql: `INSERT INTO user_account (id, email, display_name, password_hash, created_at)
    VALUES ($id, $email, $displayName, $passwordHash, $createdAt)`,
});
export const insertMembership = statement("membership.insert", {
  params: { userId: text, organizationId: text, role: membership.role, createdAt: timestamptz },
  sql: `INSERT INTO membership (user_id, organization_id, role, created_at)
    VALUES ($userId, $organizationId, $role, $createdAt)`,
});

/** A person who can sign in; `password` is present only if it was generated here. */
export type NewPerson = Person & { password?: string; organizationId: string; role: z.output<typeof Role> };

/**
 * Creates a person and their membership. For admins; only owners create owners. Only operators add an existing
 * account, and its password stays; for others an existing account throws InvalidInput, because joining is the
 * person's decision. Throws InvalidInput if the person already belongs to the organization.
 */
export async function createUser(ctx: Ctx, input: z.output<typeof CreateUser>): Promise<NewPerson> {
  const password = input.password ?? makePassword();
  const passwordHash = await hashPassword(password);
  return changeAccess(async (client) => {
    const organizationId = await chooseOrganization(client, ctx, input.organizationId);
    access.authorize(ctx, input.role === "owner" ? "owner" : "admin", { organizationId });
    await takeSeat(client, organizationId, input.email, ctx.now());
    const known = await findByEmail.first(client, { email: input.email });
    if (known?.organization_ids.includes(organizationId)) {
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
      const made = { id, email: input.email, displayName, passwordHash, createdAt: ctx.now() };
      await insertUser.run(client, made);
    }
    await insertMembership.run(client, {
      userId: id,
      organizationId,
      role: input.role,
      createdAt: ctx.now(),
    });
    const details = { email: input.email, role: input.role, isNew: !known };
    await record(ctx, { organizationId, subject: id, action: "member.added", details }, client);
    const row = (await readPerson.first(client, { id }))!; // it was written or found above
    const madeUp = known || input.password ? {} : { password };
    return { ...toPerson(row, visibleOrganizations(ctx)), ...madeUp, organizationId, role: input.role };
  });
}

/** The people of the caller's organizations, oldest first; an operator sees all. */
export async function listUsers(ctx: Ctx, organizationId?: string): Promise<Person[]> {
  const visible = visibleOrganizations(ctx);
  const joined = {
    organizationId: amongOrganizations(visible),
    ...(organizationId ? { AND: { organizationId } } : {}),
  };
  const everybody = isOperator(ctx) && !organizationId;
  const rows = await people.user.findMany({
    where: everybody ? { id: EVERY } : { memberships: { some: joined } },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    select: personFields(visible),
  });
  return rows.map((row) => toPerson(row, visible));
}

/**
 * Makes a person an operator of the whole installation. Operators only. NotFound if no account has this
 * address.
 */
export async function grantOperator(ctx: Ctx, { email }: z.output<typeof GrantOperator>): Promise<Person> {
  access.authorize(ctx, "operator");
  return changeAccess(async (client) => {
    const row = await makeOperator.first(client, { email });
    if (!row) fail("NotFound", "No account has this email address.");
    const act = { organizationId: INSTALLATION, subject: row.id, action: "operator.granted" };
    await record(ctx, { ...act, details: { email } }, client);
    return toPerson(row, null);
  });
}

/** The operators of this installation. Operators only. */
export async function listOperators(ctx: Ctx): Promise<Person[]> {
  access.authorize(ctx, "operator");
  const rows = await people.user.findMany({
    where: { isOperator: true },
    orderBy: { createdAt: "asc" },
    select: personFields(null),
  });
  return rows.map((row) => toPerson(row, null));
}

/** `visible`: the organizations whose memberships the reader may see; null means all. */
function toPerson(row: PersonRow, visible: string[] | null): Person {
  const known = (row.memberships ?? []).filter(
    ({ organizationId }) => !visible || visible.includes(organizationId),
  );
  return {
    userId: row.id,
    email: row.email,
    displayName: row.displayName,
    isOperator: row.isOperator,
    memberships: known.map(({ organizationId, role }) => ({ organizationId, role: Role.parse(role) })),
    createdAt: row.createdAt.toISOString(),
  };
}
