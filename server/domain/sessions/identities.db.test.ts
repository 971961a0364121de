import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { Fault, ValidationFault } from "@/server/platform/errors/errors";
import { env } from "@/server/platform/settings/env";
import { later } from "@/testing/codes";
import { signIn } from "@/testing/sessions";
import { setSettings } from "@/testing/settings";
import { makePerson, makeTenant, system } from "@/testing/tenants";
import {
  GITHUB,
  GOOGLE,
  type Identified,
  type Identity,
  identify,
  listSessions,
  readAccount,
  startSession,
  unlinkIdentity,
} from ".";

const identityOf = (verifiedEmail: string | null, subject: string = randomUUID()): Identity => ({
  issuer: "https://identity.example",
  name: "Example",
  subject,
  verifiedEmail,
});

test("simultaneous sign-ins of one new identity all get the account, and the identity is linked once", async () => {
  const { organizationId } = await makeTenant();
  const { userId, email } = await makePerson(organizationId, "member");
  const identity = identityOf(email);
  const found = await Promise.all(Array.from({ length: 10 }, () => identify(system, identity)));
  for (const each of found) expect(each).toMatchObject({ userId });
  const { rowCount } = await pool.query("SELECT FROM notification WHERE user_id = $1", [userId]);
  expect(rowCount).toBe(1);
});

test("only one of many simultaneous identities with one e-mail gets the account", async () => {
  const { organizationId } = await makeTenant();
  const { userId, email } = await makePerson(organizationId, "member");
  const found = await Promise.all(Array.from({ length: 10 }, () => identify(system, identityOf(email))));
  expect(found.filter((each) => "userId" in each)).toEqual([expect.objectContaining({ userId })]);
  expect(found.filter((each) => "refused" in each && each.refused === "IdentityTaken")).toHaveLength(9);
});

test("the same subject at another provider is another person", async () => {
  const { organizationId } = await makeTenant();
  const { email } = await makePerson(organizationId, "member");
  const identity = identityOf(email);
  await identify(system, identity);
  const other = { ...identity, issuer: "https://another.example", verifiedEmail: null };
  expect(await identify(system, other)).toEqual({ refused: "EmailNotVerified" });
});

test("a person reads only their own providers, by name and with the time of linking", async () => {
  const { organizationId } = await makeTenant();
  const { ctx, email } = await makePerson(organizationId, "member");
  const { ctx: other } = await makePerson(organizationId, "member");
  expect((await readAccount(ctx)).identities).toEqual([]);
  await identify(system, { ...identityOf(email), ...GITHUB });
  await identify(system, identityOf(email));
  const { identities } = await readAccount(ctx);
  expect(identities.map(({ name }) => name).sort()).toEqual(["GitHub", "identity.example"]);
  for (const { since } of identities) expect(new Date(since).getTime()).toBeLessThanOrEqual(Date.now());
  expect((await readAccount(other)).identities).toEqual([]);
});

describe("disconnecting an identity", () => {
  const configured = ["GITHUB_ID", "GITHUB_SECRET", "GOOGLE_CLIENT_ID", "GOOGLE_CLIENT_SECRET"] as const;
  const before = configured.map((name) => [name, env[name]]);
  afterEach(() => void setSettings(Object.fromEntries(before)));
  const configure = (...names: (typeof configured)[number][]) =>
    void setSettings(Object.fromEntries(names.map((name) => [name, "x"])));

  const outcome = (work: Promise<unknown>) =>
    work.then(
      () => "done",
      (error) => {
        if (error instanceof ValidationFault) return error.issues[0]?.msg;
        return error instanceof Fault ? error.code : Promise.reject(error);
      },
    );
  async function linked(...issuers: (typeof GITHUB)[]) {
    const { organizationId } = await makeTenant();
    const person = await makePerson(organizationId, "member");
    const identities = issuers.map((provider) => ({ ...identityOf(person.email), ...provider }));
    for (const identity of identities) await identify(system, identity);
    return { ...person, organizationId, identities };
  }
  const forgetPassword = (userId: string) =>
    pool.query("UPDATE user_account SET password_hash = NULL WHERE id = $1", [userId]);
  const namesOf = async (ctx: Ctx) => (await readAccount(ctx)).identities.map(({ name }) => name);
  const only = <T>([first]: T[]): T => first!;

  test("an identity is disconnected with the password, then signs no one in, and the verified e-mail links it again", async () => {
    const { ctx, password, userId, identities } = await linked(GITHUB);
    const identity = only(identities);
    const { issuer } = identity;
    expect(await outcome(unlinkIdentity(ctx, { issuer }))).toBe("The password is not correct.");
    expect(await outcome(unlinkIdentity(ctx, { issuer, password: "wrong" }))).toBe(
      "The password is not correct.",
    );
    expect(await namesOf(ctx)).toEqual(["GitHub"]);
    await unlinkIdentity(ctx, { issuer, password });
    expect(await namesOf(ctx)).toEqual([]);
    expect(await identify(system, { ...identity, verifiedEmail: null })).toEqual({
      refused: "EmailNotVerified",
    });
    expect(await identify(system, identity)).toMatchObject({ userId });
    expect(await namesOf(ctx)).toEqual(["GitHub"]);
    expect(await identify(system, { ...identity, verifiedEmail: null })).toMatchObject({ userId });
  });

  test("disconnecting ends every other session, even one that is just beginning, and is reported and logged", async () => {
    const { ctx, password, userId, email, organizationId, identities } = await linked(GITHUB);
    const other = await signIn(userId);
    const begun = (await identify(system, only(identities))) as Identified; // the identity is linked, so there is no refusal
    await unlinkIdentity(ctx, { issuer: GITHUB.issuer, password });
    const late = await startSession(system, { userId, version: begun.sessionVersion, userAgent: null });
    for (const ended of [other, late]) expect(await access.sessionPrincipal(ended, new Date())).toBeNull();
    expect((await listSessions(ctx)).map(({ isCurrent }) => isCurrent)).toEqual([true]);
    const { rows: notices } = await pool.query(
      `SELECT title, (SELECT count(*)::int FROM mail WHERE notification_id = notification.id) AS mails FROM notification
       WHERE user_id = $1 AND kind = 'account.identity_unlinked'`,
      [userId],
    );
    expect(notices).toEqual([{ title: "GitHub no longer signs you in", mails: 1 }]);
    const { rows: written } = await pool.query(
      "SELECT actor_id, subject, details FROM audit_entry WHERE organization_id = $1 AND action = 'identity.unlinked'",
      [organizationId],
    );
    expect(written).toEqual([
      { actor_id: userId, subject: userId, details: { issuer: GITHUB.issuer, email } },
    ]);
  });

  test("an identity can be disconnected only if a password or another offered provider remains", async () => {
    configure("GITHUB_ID", "GITHUB_SECRET");
    const { ctx, userId } = await linked(GITHUB, GOOGLE);
    expect((await readAccount(ctx)).identities.map(({ isSpare }) => isSpare)).toEqual([true, true]);
    await forgetPassword(userId);
    const spare = async () =>
      Object.fromEntries((await readAccount(ctx)).identities.map(({ name, isSpare }) => [name, isSpare]));
    // Google is not configured here, so it signs no one in.
    expect(await spare()).toEqual({ GitHub: false, Google: true });
    expect(await outcome(unlinkIdentity(ctx, { issuer: GITHUB.issuer }))).toBe("InvalidInput");
    expect(await spare()).toEqual({ GitHub: false, Google: true });
    configure(...configured);
    expect(await spare()).toEqual({ GitHub: true, Google: true });
    const both = [GITHUB, GOOGLE].map(({ issuer }) => outcome(unlinkIdentity(ctx, { issuer })));
    expect((await Promise.all(both)).sort()).toEqual(["InvalidInput", "done"]);
    expect(Object.values(await spare())).toEqual([false]);
  });

  test("a person without a password must have just signed in to disconnect an identity", async () => {
    configure(...configured);
    const { ctx, userId } = await linked(GITHUB, GOOGLE);
    await forgetPassword(userId);
    const { issuer } = GITHUB;
    expect(await outcome(unlinkIdentity(later(ctx, 16 * 60), { issuer }))).toBe("AuthorizationFailed");
    expect(await outcome(unlinkIdentity(later(ctx, 14 * 60), { issuer }))).toBe("done");
  });

  test("a person can disconnect only their own connected identities", { tags: "long" }, async () => {
    const { email, ctx, identities } = await linked(GITHUB);
    const stranger = await linked();
    const { password } = stranger;
    const { issuer } = GITHUB;
    expect(await outcome(unlinkIdentity(stranger.ctx, { issuer, password }))).toBe("NotFound");
    expect(await outcome(unlinkIdentity(system, { issuer, password }))).toBe("AuthorizationFailed");
    expect(await namesOf(ctx)).toEqual(["GitHub"]);
    expect(await identify(system, { ...only(identities), verifiedEmail: null })).toMatchObject({ email });
  });
});
