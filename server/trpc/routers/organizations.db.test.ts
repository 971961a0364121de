import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import type { Ctx } from "@/server/domain/ctx";
import { outboxMail } from "@/server/domain/notifications";
import { pool } from "@/server/platform/db";
import { Fault } from "@/server/platform/errors/errors";
import { makePerson, makeTenant, system } from "@/testing/tenants";
import { appRouter } from "../index";

let tenant: Awaited<ReturnType<typeof makeTenant>>;
let people: Record<"owner" | "admin" | "member" | "viewer", Awaited<ReturnType<typeof makePerson>>>;
let stranger: Ctx;
beforeAll(async () => {
  tenant = await makeTenant();
  const one = (role: keyof typeof people) => makePerson(tenant.organizationId, role);
  people = {
    owner: await one("owner"),
    admin: await one("admin"),
    member: await one("member"),
    viewer: await one("viewer"),
  };
  stranger = (await makePerson((await makeTenant()).organizationId, "owner")).ctx;
}, 60_000);

const anonymous: Ctx = { ...system, principal: { kind: "anonymous", id: "anonymous", address: "192.0.2.9" } };
const as = (ctx: Ctx) => appRouter.createCaller(ctx).organizations;

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (error === null) return "done";
  const cause = error instanceof Error ? error.cause : null;
  return cause instanceof Fault ? cause.code : error instanceof Error ? error.message : String(error);
}

test("each role reads what it may, strangers find no organization, and anyone signed out is refused", async () => {
  const { organizationId } = tenant;
  const reads = (ctx: Ctx) => [
    as(ctx).get({ organizationId }),
    as(ctx).members({ organizationId }),
    as(ctx).projects({ organizationId }),
    as(ctx).keys({ organizationId }),
    as(ctx).invitations({ organizationId }),
    as(ctx).auditLog({ organizationId, limit: 5 }),
  ];
  const table = async (ctx: Ctx) => Promise.all(reads(ctx).map(codeOf));
  const [no, yes] = ["AuthorizationFailed", "done"];
  expect(await table(people.owner.ctx)).toEqual([yes, yes, yes, yes, yes, yes]);
  expect(await table(people.admin.ctx)).toEqual([yes, yes, yes, yes, yes, yes]);
  expect(await table(people.member.ctx)).toEqual([yes, yes, yes, yes, no, no]);
  expect(await table(people.viewer.ctx)).toEqual([yes, yes, yes, yes, no, no]);
  expect(await table(stranger)).toEqual(Array(6).fill("NotFound"));
  expect(await table(anonymous)).toEqual(Array(6).fill("Sign in to continue."));
});

test("an invitation is created and accepted, and keys are listed with their creators", async () => {
  const { organizationId, projectId } = tenant;
  const email = `${randomUUID()}@example.com`;
  const { invitationId } = await as(people.admin.ctx).invite({ organizationId, email, role: "member" });
  const { rows } = await pool.query<{ id: string }>("SELECT id FROM mail WHERE invitation_id = $1", [
    invitationId,
  ]);
  const { text } = await outboxMail(system, rows[0]?.id ?? "");
  const token = /#(\S+)/.exec(text)?.[1] ?? "";
  expect(await as(anonymous).lookAtInvitation({ token })).toMatchObject({ email, isKnown: false });
  expect(await codeOf(as(anonymous).acceptInvitation({ token, password: "short" }))).toContain("12");
  await as(anonymous).acceptInvitation({ token, password: "long enough to pass" });
  const members = await as(people.viewer.ctx).members({ organizationId });
  const joined = members.find((member) => member.email === email);
  expect(joined?.role).toBe("member");
  const place = { organizationId, userId: joined?.userId ?? "" };
  expect(await codeOf(as(people.member.ctx).changeRole({ ...place, role: "viewer" }))).toBe(
    "AuthorizationFailed",
  );
  await as(people.owner.ctx).changeRole({ ...place, role: "viewer" });
  expect((await as(people.owner.ctx).removeMember(place)).keys).toEqual([]);

  const made = await appRouter
    .createCaller(people.member.ctx)
    .keys.create({ name: "Mine", projectId, environment: "development" });
  const next = await as(people.member.ctx).rotateKey({ keyId: made.keyId, overlapSeconds: 60 });
  expect(await codeOf(as(people.viewer.ctx).rotateKey({ keyId: next.keyId }))).toBe("AuthorizationFailed");
  const keys = await as(people.viewer.ctx).keys({ organizationId });
  expect(keys.find(({ keyId }) => keyId === made.keyId)).toMatchObject({
    maker: people.member.email,
    replacedBy: next.keyId,
  });
  expect(JSON.stringify(keys)).not.toContain(next.apiKey.slice(30));
});

test("a project is created, changed and archived, and unknown fields are refused", async () => {
  const { organizationId } = tenant;
  const { owner, member } = people;
  expect(await codeOf(as(member.ctx).addProject({ organizationId, displayName: "No" }))).toBe(
    "AuthorizationFailed",
  );
  const { id } = await as(owner.ctx).addProject({
    organizationId,
    displayName: "Pier",
    environment: "staging",
  });
  const changed = await as(owner.ctx).changeProject({ projectId: id, status: "archived" });
  expect(changed).toMatchObject({ displayName: "Pier", status: "archived" });
  expect(changed.environments.map(({ slug }) => slug)).toEqual(["development", "production", "staging"]);
  const strange = { projectId: id, organizationId: "org_x" };
  expect(await codeOf(as(owner.ctx).changeProject(strange))).toContain("organizationId");
  await as(owner.ctx).rename({ organizationId, displayName: "Harbour" });
  expect((await as(people.viewer.ctx).get({ organizationId })).displayName).toBe("Harbour");
});
