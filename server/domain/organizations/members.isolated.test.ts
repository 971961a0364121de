/** @module-tag long */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CreateApiKey } from "@/server/contract/organizations";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { Fault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { campaign } from "@/testing/campaign";
import { startWebProcess, type WebProcess } from "@/testing/processes";
import { cookieOf, personOf } from "@/testing/sessions";
import { setSettings } from "@/testing/settings";
import { ctxOf, makePerson, makeTenant, system } from "@/testing/tenants";
import * as organizations from ".";

type Role = "owner" | "admin" | "member" | "viewer";
const ROLES: Role[] = ["owner", "admin", "member", "viewer"];

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (error === null) return "done";
  if (error instanceof Fault) return error.code;
  throw error;
}

/** Creates a member who never signs in: hashing a password costs more than the rest of the test. */
async function addMember(organizationId: string, role: Role): Promise<string> {
  const id = newId("user");
  await pool.query(
    "INSERT INTO user_account (id, email, display_name) VALUES ($1, $1 || '@example.com', 'x')",
    [id],
  );
  await pool.query("INSERT INTO membership (user_id, organization_id, role) VALUES ($1, $2, $3)", [
    id,
    organizationId,
    role,
  ]);
  return id;
}

const rolesIn = async (organizationId: string) => {
  const members = await organizations.membersOf(system, organizationId);
  return new Map(members.map(({ userId, role }) => [userId, role]));
};

describe("roles and acts on members", () => {
  const may: Record<string, (ctx: Ctx, at: { organizationId: string; userId: string }) => Promise<unknown>> =
    {
      remove: (ctx, at) => organizations.removeMember(ctx, at),
      "make owner": (ctx, at) => organizations.changeRole(ctx, { ...at, role: "owner" }),
      "make admin": (ctx, at) => organizations.changeRole(ctx, { ...at, role: "admin" }),
      "make viewer": (ctx, at) => organizations.changeRole(ctx, { ...at, role: "viewer" }),
    };

  test("no role acts on one above it, and members and viewers act on no one", async () => {
    const { organizationId } = await makeTenant();
    await makePerson(organizationId, "owner"); // so that no owner below is the last
    const table: Record<string, string> = {};
    for (const actor of ROLES) {
      const { ctx } = await makePerson(organizationId, actor);
      for (const target of ROLES) {
        for (const [act, work] of Object.entries(may)) {
          const userId = await addMember(organizationId, target);
          const code = await codeOf(work(ctx, { organizationId, userId }));
          table[`${actor} ${act} ${target}`] = code;
          const after = (await rolesIn(organizationId)).get(userId);
          if (code !== "done") expect(after).toBe(target);
        }
      }
    }
    const done = Object.entries(table).filter(([, code]) => code === "done");
    const expected = (actor: Role, acts: string[], targets: Role[]) =>
      targets.flatMap((target) => acts.map((act) => `${actor} ${act} ${target}`));
    expect(done.map(([name]) => name).sort()).toEqual(
      [
        ...expected("owner", Object.keys(may), ROLES),
        ...expected("admin", ["remove", "make admin", "make viewer"], ["admin", "member", "viewer"]),
      ].sort(),
    );
    const refused = Object.values(table).filter((code) => code !== "done");
    expect(new Set(refused)).toEqual(new Set(["AuthorizationFailed"]));
  });

  test("strangers, unknown people and unknown organizations get the same answer", async () => {
    const [mine, theirs] = [await makeTenant(), await makeTenant()];
    const { ctx } = await makePerson(mine.organizationId, "owner");
    const foreign = await makePerson(theirs.organizationId, "member");
    for (const work of Object.values(may)) {
      for (const at of [
        { organizationId: theirs.organizationId, userId: foreign.userId },
        { organizationId: newId("organization"), userId: foreign.userId },
        { organizationId: mine.organizationId, userId: foreign.userId },
        { organizationId: mine.organizationId, userId: newId("user") },
      ])
        expect(await codeOf(work(ctx, at))).toBe("NotFound");
    }
    expect(await codeOf(organizations.membersOf(ctx, theirs.organizationId))).toBe("NotFound");
  });

  test("a key and an anonymous caller can neither remove members nor change roles", async () => {
    const { organizationId, apiKey } = await makeTenant();
    const { userId } = await makePerson(organizationId, "member");
    const key = await access.keyPrincipal(apiKey, new Date());
    if (!key) throw new Error("the key is good");
    const anonymous = ctxOf({ kind: "anonymous", id: "anonymous", address: "192.0.2.1" });
    for (const ctx of [ctxOf(key), anonymous])
      for (const work of Object.values(may))
        expect(await codeOf(work(ctx, { organizationId, userId }))).toBe("NotFound");
  });
});

describe("the last owner", () => {
  test("the last owner can neither leave, be removed nor be demoted, by themselves or by an operator", async () => {
    const { organizationId } = await makeTenant();
    const { ctx, userId } = await makePerson(organizationId, "owner");
    for (const by of [ctx, system]) {
      expect(await codeOf(organizations.removeMember(by, { organizationId, userId }))).toBe("LastOwner");
      for (const role of ["admin", "member", "viewer"] as const)
        expect(await codeOf(organizations.changeRole(by, { organizationId, userId, role }))).toBe(
          "LastOwner",
        );
    }
    const next = await makePerson(organizationId, "member");
    await organizations.changeRole(ctx, { organizationId, userId: next.userId, role: "owner" });
    expect(await codeOf(organizations.removeMember(ctx, { organizationId, userId }))).toBe("done");
    expect([...(await rolesIn(organizationId)).values()]).toEqual(["owner"]);
  });

  test("one owner stays when all leave, demote and remove each other at once", async () => {
    for (let round = 0; round < campaign.size({ small: 2, full: 8 }); round++) {
      const { organizationId } = await makeTenant();
      const owners = await Promise.all(Array.from({ length: 5 }, () => makePerson(organizationId, "owner")));
      await Promise.allSettled(
        owners.flatMap(({ ctx, userId }, place) => {
          const other = owners[(place + 1) % owners.length]?.userId ?? "";
          return [
            organizations.removeMember(ctx, { organizationId, userId }),
            organizations.changeRole(ctx, { organizationId, userId: other, role: "viewer" }),
            organizations.removeMember(ctx, { organizationId, userId: other }),
          ];
        }),
      );
      const left = [...(await rolesIn(organizationId)).values()].filter((role) => role === "owner");
      expect(left).toHaveLength(1);
    }
  }, 60_000);
});

describe("a removed member", () => {
  test("a removed member's keys keep working, and the answer and the log list them", async () => {
    const { organizationId, projectId } = await makeTenant();
    const owner = await makePerson(organizationId, "owner");
    const gone = await makePerson(organizationId, "member");
    const make = (name: string) => organizations.createKey(gone.ctx, CreateApiKey.parse({ name, projectId }));
    const [kept, revoked] = [await make("kept"), await make("revoked")];
    await organizations.revokeKey(gone.ctx, revoked.keyId);
    const members = await organizations.membersOf(owner.ctx, organizationId);
    expect(members.find(({ userId }) => userId === gone.userId)).toMatchObject({
      activeKeys: 1,
      isYou: false,
    });
    const removed = await organizations.removeMember(owner.ctx, { organizationId, userId: gone.userId });
    expect(removed).toEqual({
      userId: gone.userId,
      email: gone.email,
      keys: [{ keyId: kept.keyId, name: "kept", prefix: kept.prefix, projectId }],
    });
    expect(await access.keyPrincipal(kept.apiKey, new Date())).not.toBeNull();
    const { rows } = await pool.query(
      "SELECT action, actor_id, details FROM audit_entry WHERE organization_id = $1 AND subject = $2 ORDER BY id DESC LIMIT 1",
      [organizationId, gone.userId],
    );
    expect(rows[0]).toMatchObject({
      action: "member.removed",
      actor_id: owner.userId,
      details: { email: gone.email, keysLeft: [kept.keyId] },
    });
  });
});

describe("two web processes", () => {
  let webs: WebProcess[];
  beforeAll(async () => {
    webs = await Promise.all([startWebProcess(), startWebProcess()]);
  }, 60_000);
  afterAll(() => Promise.all(webs.map((web) => web.kill())));

  const statuses = (path: string, headers: Record<string, string>) =>
    Promise.all(webs.map(async (web) => (await fetch(web.url + path, { headers })).status));

  test("two web processes both refuse the very next request of a removed or demoted member", async () => {
    const { organizationId } = await makeTenant();
    const owner = await makePerson(organizationId, "owner");
    for (let n = 0; n < campaign.size({ small: 2, full: 10 }); n++) {
      const { userId } = await makePerson(organizationId, "admin");
      const headers = { cookie: await cookieOf(userId) };
      const vault = `/v1/organizations/${organizationId}/provider-credentials`;
      const home = `/v1/organizations/${organizationId}`;
      expect(await statuses(vault, headers)).toEqual([200, 200]);
      await organizations.changeRole(owner.ctx, { organizationId, userId, role: "viewer" });
      expect(await statuses(vault, headers)).toEqual([403, 403]);
      expect(await statuses(home, headers)).toEqual([200, 200]);
      await organizations.removeMember(owner.ctx, { organizationId, userId });
      expect(await statuses(home, headers)).toEqual([404, 404]);
    }
  }, 60_000);

  test("two web processes both refuse a key rotated without overlap, and work in an archived project", async () => {
    const { organizationId, projectId, apiKey, keyId } = await makeTenant();
    const { ctx } = await makePerson(organizationId, "owner");
    const with_ = (key: string) => ({ authorization: `Bearer ${key}` });
    expect(await statuses("/v1/jobs", with_(apiKey))).toEqual([200, 200]);
    const next = await organizations.rotateKey(ctx, keyId, { overlapSeconds: 0 });
    expect(await statuses("/v1/jobs", with_(apiKey))).toEqual([401, 401]);
    expect(await statuses("/v1/jobs", with_(next.apiKey))).toEqual([200, 200]);
    const quote = () =>
      Promise.all(
        webs.map(async (web) => {
          const body = JSON.stringify({ input: { expression: "1 + 1" } });
          const headers = { ...with_(next.apiKey), "content-type": "application/json" };
          const url = `${web.url}/v1/capabilities/compute.evaluate.v1/invoke`;
          return (await fetch(url, { method: "POST", headers, body })).status;
        }),
      );
    expect(await quote()).toEqual([200, 200]);
    await organizations.patchProject(ctx, projectId, { status: "archived", clearRepository: false });
    expect(await quote()).toEqual([403, 403]);
    expect(await statuses(`/v1/projects/${projectId}/jobs`, with_(next.apiKey))).toEqual([200, 200]);
  });
});

describe("onboarding", () => {
  const loner = async () => {
    const { organizationId } = await makeTenant();
    await makePerson(organizationId, "owner");
    const { ctx, userId } = await makePerson(organizationId, "member");
    await organizations.removeMember(ctx, { organizationId, userId });
    return ctxOf(await personOf(userId));
  };
  const wish = () => ({ organizationName: `Own ${randomUUID()}`, projectName: "First" });

  test("a person without an organization creates one with a project and owns it; two requests at once create one", async () => {
    const ctx = await loner();
    const codes = await Promise.all([1, 2, 3].map(() => codeOf(organizations.onboard(ctx, wish()))));
    expect(codes.sort()).toEqual(["AuthorizationFailed", "AuthorizationFailed", "done"]);
    const person = await personOf(ctx.principal.id);
    expect([...person.memberships.values()]).toEqual(["owner"]);
    const mine = ctxOf(person);
    expect((await organizations.listProjects(mine)).map(({ displayName }) => displayName)).toEqual(["First"]);
  });

  test("a person who created an organization and left it cannot create another, even with concurrent requests", async () => {
    const ctx = await loner();
    const { organizationId } = await organizations.onboard(ctx, wish());
    await makePerson(organizationId, "owner");
    const mine = ctxOf(await personOf(ctx.principal.id));
    await organizations.removeMember(mine, { organizationId, userId: ctx.principal.id });
    const codes = await Promise.all([1, 2, 3].map(() => codeOf(organizations.onboard(ctx, wish()))));
    expect(new Set(codes)).toEqual(new Set(["AuthorizationFailed"]));
  });

  test("only a person without an organization can onboard, and in production only if the installation allows it", async () => {
    const { organizationId } = await makeTenant();
    const { ctx } = await makePerson(organizationId, "viewer");
    expect(await codeOf(organizations.onboard(ctx, wish()))).toBe("AuthorizationFailed");
    expect(await codeOf(organizations.onboard(system, wish()))).toBe("AuthorizationFailed");
    const { CAPSTAN_ENV, ALLOW_ONBOARDING } = env;
    setSettings({ CAPSTAN_ENV: "production" });
    expect(organizations.isOnboardingOpen()).toBe(false);
    expect(await codeOf(organizations.onboard(await loner(), wish()))).toBe("AuthorizationFailed");
    setSettings({ ALLOW_ONBOARDING: true });
    expect(await codeOf(organizations.onboard(await loner(), wish()))).toBe("done");
    setSettings({ CAPSTAN_ENV, ALLOW_ONBOARDING });
  });
});
