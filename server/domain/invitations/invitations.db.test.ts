import { randomUUID } from "node:crypto";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Ctx } from "@/server/domain/ctx";
import { attemptMail, outboxMail } from "@/server/domain/notifications";
import * as organizations from "@/server/domain/organizations";
import { pool } from "@/server/platform/db";
import { Fault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { env } from "@/server/platform/settings/env";
import { DAY_MS } from "@/server/platform/time/units";
import { type MailServer, startMailServer } from "@/testing/mail-server";
import { ownAddress } from "@/testing/requests";
import { personOf } from "@/testing/sessions";
import { setSettings } from "@/testing/settings";
import { makePerson, makeTenant, system } from "@/testing/tenants";
import * as invitations from ".";

type Role = "owner" | "admin" | "member" | "viewer";
let tenant: Awaited<ReturnType<typeof makeTenant>>;
let people: Record<Role, Awaited<ReturnType<typeof makePerson>>>;
beforeAll(async () => {
  tenant = await makeTenant();
  const one = (role: Role) => makePerson(tenant.organizationId, role);
  people = {
    owner: await one("owner"),
    admin: await one("admin"),
    member: await one("member"),
    viewer: await one("viewer"),
  };
});

const { SMTP_URL, MAIL_FROM, CAPSTAN_ENV } = env;
afterEach(() => {
  setSettings({ SMTP_URL, MAIL_FROM, CAPSTAN_ENV });
});

const PASSWORD = "correct horse battery";
const anybody = (): Ctx => {
  const address = ownAddress();
  return { ...system, address, principal: { kind: "anonymous", id: "anonymous", address } };
};
const later = (ctx: Ctx, ms: number): Ctx => ({ ...ctx, now: () => new Date(Date.now() + ms) });
const address = () => `${randomUUID()}@example.com`;
const send = (email: string, role: Role = "member", ctx = people.admin.ctx) =>
  invitations.invite(ctx, { organizationId: tenant.organizationId, email, role });

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (error: unknown) => error,
  );
  if (error === null) return "done";
  if (!(error instanceof Fault)) throw error;
  return error.details.reason ? `${error.code} ${error.details.reason}` : error.code;
}

/**
 * Returns the token in the last letter to an address, as the outbox of an installation without a mail server shows it.
 */
async function tokenTo(email: string): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    "SELECT id FROM mail WHERE recipient = $1 ORDER BY created_at DESC LIMIT 1",
    [email],
  );
  const { text } = await outboxMail(system, rows[0]?.id ?? "");
  return /\/invitation#(\S+)/.exec(text)?.[1] ?? "";
}

const roleOf = async (userId: string) =>
  (await organizations.membersOf(people.owner.ctx, tenant.organizationId)).find(
    (each) => each.userId === userId,
  )?.role;

describe("sending an invitation", () => {
  test("admins and owners invite to roles up to their own, and for strangers the organization does not exist", async () => {
    const answers: Record<string, string[]> = {};
    for (const [role, { ctx }] of Object.entries(people)) {
      answers[role] = [];
      for (const offered of ["viewer", "member", "admin", "owner"] as const)
        answers[role].push(await codeOf(send(address(), offered, ctx)));
    }
    const [no, yes] = ["AuthorizationFailed", "done"];
    expect(answers).toEqual({
      owner: [yes, yes, yes, yes],
      admin: [yes, yes, yes, no],
      member: [no, no, no, no],
      viewer: [no, no, no, no],
    });
    const stranger = await makePerson((await makeTenant()).organizationId, "owner");
    expect(await codeOf(send(address(), "viewer", stranger.ctx))).toBe("NotFound");
    const { invitationId } = await send(address());
    expect(await codeOf(invitations.withdrawInvitation(stranger.ctx, invitationId))).toBe("NotFound");
    expect(await codeOf(invitations.resendInvitation(stranger.ctx, invitationId))).toBe("NotFound");
    expect(await codeOf(invitations.invitationsOf(stranger.ctx, tenant.organizationId))).toBe("NotFound");
    expect(await codeOf(invitations.invitationsOf(people.member.ctx, tenant.organizationId))).toBe(no);
  });

  test("an admin can neither resend nor withdraw an invitation to an owner's role", async () => {
    const { invitationId } = await send(address(), "owner", people.owner.ctx);
    const admin = later(people.admin.ctx, 120_000);
    expect(await codeOf(invitations.resendInvitation(admin, invitationId))).toBe("AuthorizationFailed");
    expect(await codeOf(invitations.withdrawInvitation(admin, invitationId))).toBe("AuthorizationFailed");
    expect(await codeOf(invitations.withdrawInvitation(people.owner.ctx, invitationId))).toBe("done");
  });

  test("an address has one invitation at a time, even with simultaneous calls, and no member is invited", async () => {
    const email = address();
    const codes = await Promise.all(Array.from({ length: 8 }, () => codeOf(send(email))));
    expect(codes.sort()).toEqual([...Array(7).fill("InvalidInput"), "done"]);
    expect(await codeOf(send(people.viewer.email))).toBe("InvalidInput");
  });

  test("letters are limited to one a minute per invitation and to 200 a day per organization", async () => {
    const { organizationId } = await makeTenant();
    const { ctx } = await makePerson(organizationId, "owner");
    const { invitationId } = await invitations.invite(ctx, {
      organizationId,
      email: address(),
      role: "viewer",
    });
    expect(await codeOf(invitations.resendInvitation(ctx, invitationId))).toBe("RateLimited");
    await pool.query(
      `INSERT INTO mail (id, invitation_id, invitation_nonce, recipient, subject, text, html, state, created_at)
       SELECT 'mail_' || $1 || n, $1, 'x', 'x@example.com', '', '', '', 'kept', now() FROM generate_series(1, 199) n`,
      [invitationId],
    );
    const again = () => invitations.invite(ctx, { organizationId, email: address(), role: "viewer" });
    expect(await codeOf(again())).toBe("RateLimited");
  });
});

test("no chosen name takes the token of a letter to another address", async () => {
  const first = address();
  await send(first);
  const { rows } = await pool.query<{ text: string; nonce: string }>(
    "SELECT text, invitation_nonce AS nonce FROM mail WHERE recipient = $1",
    [first],
  );
  // The name contains the placeholder of the last letter and that of earlier versions.
  const place = /\/invitation#(\S+)/.exec(rows[0]!.text)?.[1] ?? "";
  expect(place).toMatch(/^invitation-[0-9a-f]{64}$/);
  const name = `https://evil.example/?t=${place}&u=capstan-invitation-token`;
  const of = tenant.organizationId;
  const before = await organizations.getOrganization(people.owner.ctx, of);
  await organizations.changeOrganization(people.owner.ctx, of, { displayName: name });
  const email = address();
  await send(email);
  const token = await tokenTo(email);
  const { rows: mails } = await pool.query<{ id: string }>("SELECT id FROM mail WHERE recipient = $1", [
    email,
  ]);
  const { text, html } = await outboxMail(system, mails[0]!.id);
  for (const part of [text, html]) {
    expect(part).toContain("evil.example");
    for (const before of part.split(token).slice(0, -1)) expect(before.endsWith("/invitation#")).toBe(true);
  }
  await organizations.changeOrganization(people.owner.ctx, of, { displayName: before.displayName });
});

describe("accepting an invitation", () => {
  test("a new person creates an account with a password and has the role on their next request", async () => {
    const email = address();
    await send(email, "admin");
    const token = await tokenTo(email);
    const offered = await invitations.lookAtInvitation(anybody(), token);
    expect(offered).toMatchObject({ email, role: "admin", isKnown: false, invitedBy: people.admin.email });
    await expect(invitations.acceptInvitation(anybody(), { token })).rejects.toThrow("password");
    const done = await invitations.acceptInvitation(anybody(), {
      token,
      password: PASSWORD,
      displayName: "Ada",
    });
    expect(done).toEqual({ organizationId: tenant.organizationId, email, isNew: true });
    const signedIn = await organizations.verifySignIn(system, {
      email,
      password: PASSWORD,
      address: randomUUID(),
    });
    const userId = "userId" in signedIn ? signedIn.userId : "";
    expect((await personOf(userId)).memberships.get(tenant.organizationId)).toBe("admin");
  });

  test("a person with an account must sign in with the invited address, and a refusal leaves the token valid", async () => {
    const other = await makePerson((await makeTenant()).organizationId, "owner");
    await send(other.email, "viewer");
    const token = await tokenTo(other.email);
    expect((await invitations.lookAtInvitation(anybody(), token)).isKnown).toBe(true);
    const take = { token, password: PASSWORD };
    expect(await codeOf(invitations.acceptInvitation(anybody(), take))).toBe("AuthenticationFailed");
    for (const { ctx } of [people.viewer, people.owner])
      expect(await codeOf(invitations.acceptInvitation(ctx, take))).toBe("AuthorizationFailed");
    expect(await codeOf(invitations.acceptInvitation(other.ctx, { token }))).toBe("done");
    expect(await roleOf(other.userId)).toBe("viewer");
    const stays = await organizations.verifySignIn(system, {
      email: other.email,
      password: other.password,
      address: randomUUID(),
    });
    expect(stays).toMatchObject({ userId: other.userId });
  });

  test("a token works once, even in twenty simultaneous calls", { tags: "long" }, async () => {
    const email = address();
    await send(email);
    const token = await tokenTo(email);
    const take = () => codeOf(invitations.acceptInvitation(anybody(), { token, password: PASSWORD }));
    const codes = await Promise.all(Array.from({ length: 20 }, take));
    expect(codes.filter((code) => code === "done")).toHaveLength(1);
    expect(codes.filter((code) => code !== "done").every((code) => /^(Gone|Authentic)/.test(code))).toBe(
      true,
    );
    expect(await take()).toBe("Gone accepted");
    const { rows } = await pool.query("SELECT FROM user_account WHERE email = $1", [email]);
    expect(rows).toHaveLength(1);
  });

  test("an expired, withdrawn or replaced token opens nothing", async () => {
    const email = address();
    const { invitationId } = await send(email);
    const first = await tokenTo(email);
    const take = (token: string, ctx = anybody()) =>
      codeOf(invitations.acceptInvitation(ctx, { token, password: PASSWORD }));
    expect(await take(first, later(anybody(), 7 * DAY_MS + 1_000))).toBe("Gone expired");
    await invitations.resendInvitation(later(people.admin.ctx, 61_000), invitationId);
    const second = await tokenTo(email);
    expect(second).not.toBe(first);
    expect(await take(first)).toBe("NotFound");
    await invitations.withdrawInvitation(people.admin.ctx, invitationId);
    expect(await take(second)).toBe("Gone withdrawn");
    expect(await codeOf(invitations.resendInvitation(people.admin.ctx, invitationId))).toBe("NotFound");
    expect(await codeOf(send(email))).toBe("done");
  });

  test("guesses open nothing, and after ten from one address even the right token must wait", async () => {
    const email = address();
    const { invitationId } = await send(email);
    const token = await tokenTo(email);
    const { rows } = await pool.query("SELECT * FROM invitation WHERE id = $1", [invitationId]);
    const guesser = anybody();
    const guesses = [
      "",
      "x",
      invitationId,
      rows[0].nonce,
      rows[0].token_hash.toString("hex"),
      rows[0].token_hash.toString("base64url"),
      token.slice(0, -1),
      `${token} `,
      token.toUpperCase(),
      "' OR 1=1 --",
    ];
    for (const guess of guesses)
      expect(await codeOf(invitations.lookAtInvitation(guesser, guess)), guess).toBe("NotFound");
    expect(await codeOf(invitations.lookAtInvitation(guesser, token))).toBe("RateLimited");
    const patient = later(guesser, 16 * 60_000);
    expect(await codeOf(invitations.lookAtInvitation(patient, token))).toBe("done");
  });

  test("an invitation gives no more than its sender could give now", async () => {
    const sender = await makePerson(tenant.organizationId, "owner");
    const [one, two] = [address(), address()];
    await send(one, "owner", sender.ctx);
    await send(two, "admin", sender.ctx);
    const tokens = [await tokenTo(one), await tokenTo(two)] as const;
    const look = (token: string) => codeOf(invitations.lookAtInvitation(anybody(), token));
    const { organizationId } = tenant;
    await organizations.changeRole(people.owner.ctx, {
      organizationId,
      userId: sender.userId,
      role: "admin",
    });
    expect([await look(tokens[0]), await look(tokens[1])]).toEqual(["Gone inviter", "done"]);
    await organizations.removeMember(people.owner.ctx, { organizationId, userId: sender.userId });
    expect(await look(tokens[1])).toBe("Gone inviter");
    const take = { token: tokens[1], password: PASSWORD };
    expect(await codeOf(invitations.acceptInvitation(anybody(), take))).toBe("Gone inviter");
  });

  test("a person who became a member meanwhile keeps their role when they accept", async () => {
    const late = await makePerson((await makeTenant()).organizationId, "member");
    await send(late.email, "viewer");
    const token = await tokenTo(late.email);
    const { organizationId } = tenant;
    await pool.query("INSERT INTO membership (user_id, organization_id, role) VALUES ($1, $2, 'admin')", [
      late.userId,
      organizationId,
    ]);
    expect(await codeOf(invitations.acceptInvitation(late.ctx, { token }))).toBe("done");
    expect(await roleOf(late.userId)).toBe("admin");
  });
});

describe("the letter of an invitation", () => {
  let server: MailServer;
  afterEach(() => server?.stop());

  test("the letter has the link, while no row and no outbox of a sending installation has the token or a piece of it", async () => {
    server = await startMailServer();
    setSettings({ SMTP_URL: server.url, MAIL_FROM: "Capstan <no-reply@example.com>" });
    const email = address();
    const { invitationId } = await send(email);
    const { rows } = await pool.query<{ id: string }>("SELECT id FROM mail WHERE invitation_id = $1", [
      invitationId,
    ]);
    const mailId = rows[0]?.id ?? "";
    await attemptMail(system, mailId);
    const letter = server.received.find((each) => each.to.includes(email));
    const token = /\/invitation#([\w-]{43})/.exec(letter?.text ?? "")?.[1] ?? "";
    expect((await invitations.lookAtInvitation(anybody(), token)).email).toBe(email);
    const tables = ["invitation", "mail", "notification", "audit_entry"];
    const shown = JSON.stringify([
      await Promise.all(tables.map(async (table) => (await pool.query(`SELECT * FROM ${table}`)).rows)),
      await outboxMail(system, mailId),
    ]);
    for (let at = 0; at + 12 <= token.length; at++) expect(shown).not.toContain(token.slice(at, at + 12));
  });

  test("a letter is not sent once its invitation was withdrawn or another letter was written", async () => {
    server = await startMailServer();
    setSettings({ SMTP_URL: server.url, MAIL_FROM: "Capstan <no-reply@example.com>" });
    const lettersOf = async (invitationId: string) =>
      (
        await pool.query<{ id: string; state: string }>(
          "SELECT id, state FROM mail WHERE invitation_id = $1 ORDER BY id",
          [invitationId],
        )
      ).rows;
    const { invitationId } = await send(address());
    const withdrawn = await send(address());
    await invitations.withdrawInvitation(people.admin.ctx, withdrawn.invitationId);
    await invitations.resendInvitation(later(people.admin.ctx, 61_000), invitationId);
    for (const { id } of [...(await lettersOf(invitationId)), ...(await lettersOf(withdrawn.invitationId))])
      await attemptMail(later(system, 62_000), id);
    expect((await lettersOf(invitationId)).map(({ state }) => state)).toEqual(["failed", "sent"]);
    expect((await lettersOf(withdrawn.invitationId)).map(({ state }) => state)).toEqual(["failed"]);
  });

  test("no one is invited if no letter can be sent, since only the letter brings the link", async () => {
    setSettings({ SMTP_URL: undefined, MAIL_FROM: undefined, CAPSTAN_ENV: "production" });
    expect(await codeOf(send(address()))).toBe("InvalidInput no_mail");
  });
});

test("every act on an invitation is in the audit log with its actor, and no entry has a token", async () => {
  const email = address();
  const { invitationId } = await send(email);
  await invitations.resendInvitation(later(people.admin.ctx, 61_000), invitationId);
  const token = await tokenTo(email);
  const { organizationId } = tenant;
  const asked = { ...anybody(), requestId: newId("request") };
  await invitations.acceptInvitation(asked, { token, password: PASSWORD });
  const { rows } = await pool.query(
    "SELECT action, actor_id, details FROM audit_entry WHERE organization_id = $1 AND subject = $2 ORDER BY id",
    [organizationId, invitationId],
  );
  expect(rows.map(({ action }) => action)).toEqual([
    "invitation.sent",
    "invitation.resent",
    "invitation.accepted",
  ]);
  expect(rows.map(({ actor_id }) => actor_id).slice(0, 2)).toEqual([
    people.admin.userId,
    people.admin.userId,
  ]);
  expect(rows[2].actor_id).toBe(rows[2].details.userId);
  expect(JSON.stringify(rows)).not.toContain(token.slice(0, 12));
});
