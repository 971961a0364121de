import { describe, expect, test } from "vitest";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { followEvents } from "@/server/domain/jobs/following/events";
import * as organizations from "@/server/domain/organizations";
import * as sessions from "@/server/domain/sessions";
import { pool } from "@/server/platform/db";
import { Fault } from "@/server/platform/errors/errors";
import { HOUR_MS } from "@/server/platform/time/units";
import { appRouter } from "@/server/trpc";
import { type Call, call, finish, makeTenant } from "@/testing/api";
import { turnOn } from "@/testing/codes";
import { cookieOf, signIn } from "@/testing/sessions";
import { ctxOf, makePerson, system } from "@/testing/tenants";

const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => "done",
    (error) => (error instanceof Fault ? error.code : Promise.reject(error)),
  );
/** The caller of this person's next request. */
async function again(ctx: Ctx, now = new Date()): Promise<Ctx | null> {
  if (ctx.principal.kind !== "human_session") throw new Error("no person");
  const principal = await access.sessionPrincipal(ctx.principal.sessionId ?? "", now);
  return principal && ctxOf(principal);
}

async function house() {
  const tenant = await makeTenant();
  const [owner, member] = [
    await makePerson(tenant.organizationId, "owner"),
    await makePerson(tenant.organizationId, "member"),
  ];
  const set = (change: Parameters<typeof organizations.setSecurity>[2], ctx = owner.ctx) =>
    organizations.setSecurity(ctx, tenant.organizationId, change);
  return { tenant, organizationId: tenant.organizationId, owner, member, set };
}

describe("the second-factor requirement", () => {
  test("only owners can set requirements, and that of a second factor only if they have one", {
    tags: "long",
  }, async () => {
    const { organizationId, owner, member, set } = await house();
    const stranger = await makePerson((await makeTenant()).organizationId, "owner");
    const admin = await makePerson(organizationId, "admin");
    expect(await refusalOf(set({ sessionHours: 8 }, stranger.ctx))).toBe("NotFound");
    for (const { ctx } of [admin, member])
      expect(await refusalOf(set({ sessionHours: 8 }, ctx))).toBe("AuthorizationFailed");
    expect(await refusalOf(set({ requireSecondFactor: true }))).toBe("PolicyRejected");
    await turnOn(owner.ctx, owner.password);
    expect(await set({ requireSecondFactor: true })).toEqual({
      requireSecondFactor: true,
      sessionHours: null,
      members: 3,
      membersWithout: 2,
      hasSecondFactor: true,
    });
    // Only named fields change, and the log has their old values.
    expect(await set({ sessionHours: 8 })).toMatchObject({ requireSecondFactor: true, sessionHours: 8 });
    const { rows } = await pool.query(
      "SELECT details FROM audit_entry WHERE organization_id = $1 AND action = 'security.changed' ORDER BY id",
      [organizationId],
    );
    const asked = { requireSecondFactor: true, sessionHours: null };
    expect(rows.map(({ details }) => details)).toMatchObject([
      { before: { ...asked, requireSecondFactor: false }, after: asked },
      { before: asked, after: { ...asked, sessionHours: 8 } },
    ]);
  });

  test("an owner sees how many members have no second factor; others see only the requirement", {
    tags: "long",
  }, async () => {
    const { organizationId, member, owner } = await house();
    const of = (ctx: Ctx) => organizations.readSecurity(ctx, organizationId);
    expect(await of(member.ctx)).toMatchObject({ requireSecondFactor: false, membersWithout: null });
    expect(await of(owner.ctx)).toMatchObject({ members: 2, membersWithout: 2, hasSecondFactor: false });
    const stranger = await makePerson((await makeTenant()).organizationId, "owner");
    expect(await refusalOf(of(stranger.ctx))).toBe("NotFound");
  });

  test("an operator can repair settings that no one can read", async () => {
    const { organizationId, set, owner } = await house();
    await pool.query(
      `UPDATE organization SET settings = settings || '{"security": {"sessionHours": "8"}}' WHERE id = $1`,
      [organizationId],
    );
    expect(await set({ sessionHours: 9 }, system)).toMatchObject({
      requireSecondFactor: false,
      sessionHours: 9,
    });
    const now = await again(owner.ctx);
    expect(now?.principal).toMatchObject({ memberships: new Map([[organizationId, "owner"]]) });
  });
});

describe("a member without a second factor", () => {
  test("a member without a required second factor has no rights from the next request on, over HTTP, in the panel and in open streams; keys and jobs go on", {
    tags: "long",
  }, async () => {
    const { tenant, organizationId, owner, member, set } = await house();
    await turnOn(owner.ctx, owner.password);
    const [cookie, ownerCookie] = [await cookieOf(member.userId), await cookieOf(owner.userId)];
    const { userCode, deviceCode } = await sessions.startDevice({ ...system, address: member.userId });
    await sessions.decideDevice(member.ctx, { userCode, decision: "approved" });
    const { sessionToken } = await sessions.redeemDevice(system, deviceCode);
    const input = { messages: [{ role: "user", content: "Count to three." }] };
    const submit = async (): Promise<string> =>
      (await tenant.post("/v1/capabilities/text.general.fast.v1/jobs", { input })).json.jobId;
    const jobId = await submit();
    const following = { ...member.ctx, whoNow: async () => (await again(member.ctx))?.principal ?? null };
    const pages = await followEvents(following, jobId, {}, { pace: { quietMs: 5, checkMs: 0 } });
    const stream = pages[Symbol.asyncIterator]();
    let first = await stream.next();
    while (!first.done && first.value.items.length === 0) first = await stream.next(); // open, no event yet
    expect(first).toMatchObject({ done: false, value: { items: [{ type: "job.queued" }] } });
    const status = async (headers: Call["headers"]) =>
      (await call("GET", `/v1/organizations/${organizationId}`, { headers })).status;
    const bearer = { authorization: `Bearer ${sessionToken}` };
    expect([await status({ cookie }), await status(bearer)]).toEqual([200, 200]);

    await set({ requireSecondFactor: true });
    expect([await status({ cookie }), await status(bearer)]).toEqual([404, 404]);
    expect(await status({ cookie: ownerCookie })).toBe(200);
    const rest: unknown[] = [];
    for (let page = await stream.next(); !page.done; page = await stream.next())
      rest.push(...page.value.items);
    expect(rest).toEqual([]);
    const now = await again(member.ctx);
    if (!now) throw new Error("the session still works");
    const panel = appRouter.createCaller(now);
    await expect(panel.organizations.get({ organizationId })).rejects.toMatchObject({ code: "NOT_FOUND" });
    await expect(panel.jobs.list({ project_id: tenant.projectId })).rejects.toMatchObject({
      code: expect.stringMatching(/FORBIDDEN|NOT_FOUND/),
    });
    expect(await panel.projects.list()).toEqual([]);
    expect((await panel.account.read()).askedBy).toEqual(["Tenant"]);
    expect((await finish(jobId)).status).toBe("succeeded");
    expect((await finish(await submit())).status).toBe("succeeded");

    // Turning on a second factor restores the rights at once, in this very session.
    await turnOn(now, member.password);
    const met = await again(member.ctx);
    expect(met?.principal).toMatchObject({ memberships: new Map([[organizationId, "member"]]) });
    expect((await appRouter.createCaller(met ?? now).account.read()).askedBy).toEqual([]);
  });

  test("a member without a required second factor keeps their rights in other organizations, and regains the lost ones once the requirement ends", {
    tags: "long",
  }, async () => {
    const { organizationId, owner, member, set } = await house();
    const home = (await makeTenant()).organizationId;
    await pool.query("INSERT INTO membership (user_id, organization_id, role) VALUES ($1, $2, 'viewer')", [
      member.userId,
      home,
    ]);
    await turnOn(owner.ctx, owner.password);
    await set({ requireSecondFactor: true });
    const roles = async () => {
      const now = await again(member.ctx);
      return now?.principal.kind === "human_session" ? [...now.principal.memberships.keys()] : null;
    };
    expect(await roles()).toEqual([home]);
    await set({ requireSecondFactor: false });
    expect((await roles())?.sort()).toEqual([home, organizationId].sort());
  });

  test("an owner who turns off a required second factor has no rights until it is on again", {
    tags: "long",
  }, async () => {
    const { owner, set, organizationId } = await house();
    const { recoveryCodes } = await turnOn(owner.ctx, owner.password);
    await set({ requireSecondFactor: true });
    await sessions.turnOffSecondFactor(owner.ctx, recoveryCodes[0] ?? "");
    const now = await again(owner.ctx);
    expect(now?.principal).toMatchObject({
      memberships: new Map(),
      closedOrganizations: new Map([[organizationId, "second_factor"]]),
    });
    await turnOn(now ?? owner.ctx, owner.password);
    expect((await again(owner.ctx))?.principal).toMatchObject({
      memberships: new Map([[organizationId, "owner"]]),
    });
  });
});

test("sessions last as long as their organization allows, from the next request on", async () => {
  const { member, set } = await house();
  const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS);
  const sessionId = await signIn(member.userId);
  const works = async (hours: number) => (await access.sessionPrincipal(sessionId, inHours(hours))) !== null;
  expect(await works(300)).toBe(true);
  await set({ sessionHours: 1 });
  expect([await works(0.9), await works(1.1)]).toEqual([true, false]);
  await set({ sessionHours: 720 });
  expect([await works(300), await works(400)]).toEqual([true, false]); // two weeks remain the maximum
  await set({ sessionHours: null });
  expect(await works(300)).toBe(true);
});

test("session hours are whole, from 1 to 720", async () => {
  const { organizationId, owner } = await house();
  const panel = appRouter.createCaller(owner.ctx);
  for (const sessionHours of [0, 721, 1.5, -1])
    await expect(panel.organizations.setSecurity({ organizationId, sessionHours })).rejects.toMatchObject({
      code: "BAD_REQUEST",
    });
});
