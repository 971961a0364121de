import { randomUUID } from "node:crypto";
import { NextRequest } from "next/server";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { POST } from "@/app/api/auth/[...nextauth]/route";
import { access } from "@/server/domain/access";
import { pool } from "@/server/platform/db";
import { publicUrl } from "@/server/platform/settings/env";
import { codeAt, turnOn } from "@/testing/codes";
import { CLIENT, startOidcServer } from "@/testing/oidc-server";
import { setSettings } from "@/testing/settings";
import { openBrowser, type Page } from "@/testing/sign-in-browser";
import { makePerson, makeTenant } from "@/testing/tenants";

// Set before the imports: cookies then have the names and flags that they have over https.
vi.hoisted(() => {
  process.env.PUBLIC_URL = "https://capstan.example";
});

let provider: Awaited<ReturnType<typeof startOidcServer>>;
let organizationId: string;
beforeAll(async () => {
  [provider, { organizationId }] = [await startOidcServer(), await makeTenant()];
});
beforeEach(() => {
  setSettings({
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: CLIENT.id,
    OIDC_CLIENT_SECRET: CLIENT.secret,
    OIDC_NAME: "Acme",
  });
});
afterAll(async () => {
  await provider.close();
});

const person = () => makePerson(organizationId, "member");
const address = () => `2001:db8:${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}::1`;
const errorOf = ({ location }: Page) => location?.searchParams.get("error") ?? null;
const works = async (sessionId = "") => (await access.sessionPrincipal(sessionId, new Date())) !== null;
const identitiesOf = async (userId: string) => {
  const { rows } = await pool.query<{ issuer: string; subject: string }>(
    "SELECT issuer, subject FROM identity WHERE user_id = $1",
    [userId],
  );
  return rows;
};

describe("OpenID Connect", () => {
  test("a verified e-mail links its account once, and from then on the subject identifies the person", {
    tags: "long",
  }, async () => {
    const { userId, email } = await person();
    const subject = randomUUID();
    provider.signIn({ claims: { sub: subject, email: email.toUpperCase(), email_verified: true } });
    const first = openBrowser();
    const page = await first.throughProvider("oidc");
    expect([page.status, page.location?.href]).toEqual([302, "https://capstan.example/docs"]);
    const session = await first.session();
    expect(session?.userId).toBe(userId);
    expect(await works(session?.sessionId)).toBe(true);
    expect(await identitiesOf(userId)).toEqual([{ issuer: provider.issuer, subject }]);

    for (const claims of [
      { sub: subject, email: "somewhere.else@example.com", email_verified: true },
      { sub: subject, email: "nobody@example.com", email_verified: false },
      { sub: subject },
    ]) {
      provider.signIn({ claims });
      const again = openBrowser();
      expect(errorOf(await again.throughProvider("oidc"))).toBeNull();
      expect((await again.session())?.userId).toBe(userId);
    }
    expect(await identitiesOf(userId)).toHaveLength(1);
    const { rows } = await pool.query(
      `SELECT (SELECT count(*)::int FROM audit_entry WHERE actor_id = $1 AND action = 'identity.linked') AS linked,
         (SELECT count(*)::int FROM notification WHERE user_id = $1 AND kind = 'account.identity_linked') AS notified`,
      [userId],
    );
    expect(rows).toEqual([{ linked: 1, notified: 1 }]);
  });

  test("the browser is sent with a state, a nonce and a PKCE challenge, and returns with cookies of this host alone", async () => {
    provider.signIn({ claims: { sub: randomUUID() } });
    const browser = openBrowser();
    await browser.toProvider("oidc");
    const asked = provider.asked()?.searchParams;
    for (const name of ["state", "nonce", "code_challenge"])
      expect(asked?.get(name)?.length, name).toBeGreaterThanOrEqual(43);
    expect(asked?.get("code_challenge_method")).toBe("S256");
    expect(asked?.get("redirect_uri")).toBe("https://capstan.example/api/auth/callback/oidc");
    for (const name of ["state", "nonce", "pkce", "csrf-token", "callback-url"])
      expect([...browser.jar.keys()]).toContain(`__Host-capstan.${name}`);
  });

  test("an e-mail that the provider has not verified opens no account", async () => {
    const { userId, email } = await person();
    for (const vouched of [
      { email_verified: false },
      {},
      { email_verified: "true" },
      { email_verified: 1 },
    ]) {
      provider.signIn({ claims: { sub: randomUUID(), email, ...vouched } });
      const browser = openBrowser();
      expect(errorOf(await browser.throughProvider("oidc"))).toBe("EmailNotVerified");
      expect(await browser.session()).toBeNull();
    }
    provider.signIn({
      claims: { sub: randomUUID(), email: `${randomUUID()}@example.com`, email_verified: true },
    });
    expect(errorOf(await openBrowser().throughProvider("oidc"))).toBe("NoAccount");
    expect(await identitiesOf(userId)).toEqual([]);
  });

  test("a person who gets another person's former address does not get their account", async () => {
    const { userId, email } = await person();
    const [first, next] = [randomUUID(), randomUUID()];
    provider.signIn({ claims: { sub: first, email, email_verified: true } });
    await openBrowser().throughProvider("oidc");
    provider.signIn({ claims: { sub: next, email, email_verified: true } });
    const browser = openBrowser();
    expect(errorOf(await browser.throughProvider("oidc"))).toBe("IdentityTaken");
    expect(await browser.session()).toBeNull();
    expect((await identitiesOf(userId)).map(({ subject }) => subject)).toEqual([first]);
  });

  test("an e-mail from the userinfo endpoint counts, but not over the signed token", {
    tags: "long",
  }, async () => {
    const { userId, email } = await person();
    const subject = randomUUID();
    provider.signIn({ claims: { sub: subject }, userinfo: { sub: subject, email, email_verified: true } });
    const browser = openBrowser();
    await browser.throughProvider("oidc");
    expect((await browser.session())?.userId).toBe(userId);
    const other = await person();
    const vouched = { email: other.email, email_verified: true };
    const lies = [
      { claims: { sub: randomUUID() }, userinfo: { ...vouched, sub: "another" } },
      { claims: { sub: subject, email: other.email }, userinfo: { ...vouched, sub: subject } },
    ];
    await pool.query("DELETE FROM identity WHERE user_id = $1", [userId]);
    for (const lie of lies) {
      provider.signIn(lie);
      const liar = openBrowser();
      expect(errorOf(await liar.throughProvider("oidc"))).not.toBeNull();
      expect(await liar.session()).toBeNull();
    }
    expect(await identitiesOf(other.userId)).toEqual([]);
  });

  test.each([
    ["another state", { state: "made up" }],
    ["no state", { state: "" }],
    ["another nonce", { claims: { nonce: "made up" } }],
    ["a signature of somebody else", { signedBy: "other" as const }],
    ["no signature", { signedBy: "nobody" as const }],
    ["another audience", { claims: { aud: "somebody-else" } }],
    ["another issuer", { claims: { iss: "https://evil.example" } }],
    ["an old token", { claims: { exp: Math.floor(Date.now() / 1000) - 120 } }],
    ["no subject", { claims: { sub: "" } }],
  ])("an answer with %s signs no one in and links nothing", async (_name, lie) => {
    const { userId, email } = await person();
    const claims = { sub: randomUUID(), email, email_verified: true };
    provider.signIn({ ...lie, claims: { ...claims, ...("claims" in lie ? lie.claims : {}) } });
    const browser = openBrowser();
    expect(errorOf(await browser.throughProvider("oidc"))).toBe("OAuthCallback");
    expect(await browser.session()).toBeNull();
    expect(await identitiesOf(userId)).toEqual([]);
    provider.signIn({ claims });
    expect(errorOf(await browser.throughProvider("oidc"))).toBeNull();
  });

  test("an answer for another browser, or one used before, signs no one in", async () => {
    const { email } = await person();
    provider.signIn({ claims: { sub: randomUUID(), email, email_verified: true } });
    const [mine, theirs, third] = [openBrowser(), openBrowser(), openBrowser()];
    const back = await mine.toProvider("oidc");
    await theirs.toProvider("oidc");
    for (const browser of [theirs, third]) {
      expect(errorOf(await browser.ask(`${back.pathname}${back.search}`))).toBe("OAuthCallback");
      expect(await browser.session()).toBeNull();
    }
    expect(errorOf(await mine.ask(`${back.pathname}${back.search}`))).toBeNull();
    expect(errorOf(await mine.ask(`${back.pathname}${back.search}`))).toBe("OAuthCallback");
  });

  test("a provider whose issuer differs from the configured one signs no one in", async () => {
    const { email } = await person();
    setSettings({ OIDC_ISSUER: provider.issuer.replace("127.0.0.1", "localhost") });
    provider.signIn({ claims: { sub: randomUUID(), email, email_verified: true } });
    const browser = openBrowser();
    expect(errorOf(await browser.throughProvider("oidc"))).not.toBeNull();
    expect(await browser.session()).toBeNull();
  });

  test("a person with a second factor still owes a code", async () => {
    const { ctx, userId, email, password } = await person();
    const { secret } = await turnOn(ctx, password);
    const subject = randomUUID();
    provider.signIn({ claims: { sub: subject, email, email_verified: true } });
    const browser = openBrowser(address());
    await browser.throughProvider("oidc");
    expect(await browser.session()).toBeNull();
    expect(await browser.pending()).toMatchObject({ userId });
    const code = codeAt(secret, new Date(Date.now() + 30_000)); // the current code confirmed the second factor, so the next one is used
    expect(errorOf(await browser.withCode("000000"))).toBe("CredentialsSignin");
    expect(await browser.session()).toBeNull();
    // A verified e-mail without the code leaves no link that a later sign-in could use.
    expect(await identitiesOf(userId)).toEqual([]);
    await browser.withCode(code);
    expect((await browser.session())?.userId).toBe(userId);
    expect((await identitiesOf(userId)).map((each) => each.subject)).toEqual([subject]);
  });

  test("the first of two identities that wait for a code of one account gets the account", async () => {
    const { ctx, userId, email, password } = await person();
    const { recoveryCodes } = await turnOn(ctx, password);
    const subjects = [randomUUID(), randomUUID(), randomUUID()];
    const [first, second, late] = subjects.map(() => openBrowser(address()));
    for (const [place, browser] of [first, second].entries()) {
      provider.signIn({ claims: { sub: subjects[place] ?? "", email, email_verified: true } });
      await browser?.throughProvider("oidc");
    }
    await first?.withCode(recoveryCodes[0] ?? "");
    expect((await first?.session())?.userId).toBe(userId);
    expect(errorOf(await second!.withCode(recoveryCodes[1] ?? ""))).toBe("IdentityTaken");
    expect(await second?.session()).toBeNull();
    provider.signIn({ claims: { sub: subjects[2] ?? "", email, email_verified: true } });
    expect(errorOf(await late!.throughProvider("oidc"))).toBe("IdentityTaken");
    expect((await identitiesOf(userId)).map((each) => each.subject)).toEqual([subjects[0]]);
  });
});

describe("passwords", () => {
  test("every sign-in is a new session and ends the one this browser had, so none can be planted", async () => {
    const { userId, email, password } = await person();
    const browser = openBrowser(address());
    await browser.withPassword(email, password);
    const first = await browser.session();
    const page = await browser.withPassword(email, password);
    const second = await browser.session();
    expect([first?.userId, second?.userId]).toEqual([userId, userId]);
    expect(second?.sessionId).not.toBe(first?.sessionId);
    expect([await works(first?.sessionId), await works(second?.sessionId)]).toEqual([false, true]);
    const cookie = page.setCookies.find((line) => line.startsWith("__Host-capstan.session="));
    expect(cookie).toMatch(/; Path=\/; .*HttpOnly; Secure; SameSite=Lax$/);
    expect(cookie).not.toMatch(/Domain/i);
  });

  test("a sign-in without the form's token signs no one in", async () => {
    const { email, password } = await person();
    const browser = openBrowser(address());
    await browser.ask("/api/auth/csrf");
    for (const csrfToken of ["", "made up"]) {
      await browser.ask("/api/auth/callback/credentials", { email, password, csrfToken });
      expect(await browser.session()).toBeNull();
    }
  });

  test("a pending sign-in is no session, has nothing to sign out of, and ends after ten minutes", async () => {
    const { ctx, userId, email, password } = await person();
    const { recoveryCodes } = await turnOn(ctx, password);
    const browser = openBrowser(address());
    await browser.withPassword(email, password);
    const kept = new Map(browser.jar);
    expect(await browser.session()).toBeNull();
    expect(await browser.pending()).toMatchObject({ userId, version: 2 });
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 10 * 60_000 + 1000 });
    try {
      expect(errorOf(await browser.withCode(recoveryCodes[0] ?? ""))).toBe("CodeTooLate");
    } finally {
      vi.useRealTimers();
    }
    for (const [name, value] of kept) browser.jar.set(name, value);
    await browser.withCode(recoveryCodes[0] ?? "");
    expect((await browser.session())?.userId).toBe(userId);
    expect(errorOf(await openBrowser(address()).withCode(recoveryCodes[1] ?? ""))).toBe("CodeTooLate");
  });

  test("after ten wrong codes every code must wait, from any address", async () => {
    const { ctx, email, password } = await person();
    const { recoveryCodes } = await turnOn(ctx, password);
    const browser = openBrowser(address());
    await browser.withPassword(email, password);
    for (let n = 0; n < 10; n++) expect(errorOf(await browser.withCode("x"))).toBe("CredentialsSignin");
    expect(errorOf(await browser.withCode(recoveryCodes[0] ?? ""))).toMatch(/^RateLimited:\d+$/);
    const elsewhere = openBrowser(address());
    expect(errorOf(await elsewhere.withPassword(email, password))).toBeNull();
    expect(errorOf(await elsewhere.withCode(recoveryCodes[0] ?? ""))).toMatch(/^RateLimited:\d+$/);
    expect(await elsewhere.session()).toBeNull();
  });

  test("strangers with wrong passwords do not lock a person out where they have signed in before", {
    tags: "long",
  }, async () => {
    const { userId, email, password } = await person();
    const home = address();
    await openBrowser(home).withPassword(email, password);
    for (let n = 0; n < 10; n++)
      expect(errorOf(await openBrowser(address()).withPassword(email, "wrong"))).toBe("CredentialsSignin");
    expect(errorOf(await openBrowser(address()).withPassword(email, password))).toMatch(/^RateLimited:\d+$/);
    const again = openBrowser(home);
    await again.withPassword(email, password);
    expect((await again.session())?.userId).toBe(userId);
  });
});

test("an internal failure while an identity is looked up is reported and signs no one in", async () => {
  const { identityProviders } = await import("./identities");
  const [oidc] = identityProviders(() => Promise.reject(new Error("the database is away")));
  const claims = { iss: provider.issuer, sub: "s", email: "a@example.com", email_verified: true };
  const { profile } = oidc as unknown as {
    profile(claims: object): Promise<{ id: string; refusal?: string }>;
  };
  expect(await profile(claims)).toEqual({ id: "-", refusal: "SignInFailed" });
  expect(await profile({ ...claims, sub: undefined })).toEqual({ id: "-", refusal: "OAuthCallback" });
});

test("GitHub gets a state and a PKCE challenge, and Google also a nonce", async () => {
  setSettings({
    GITHUB_ID: "gh",
    GITHUB_SECRET: "s",
    GOOGLE_CLIENT_ID: "go",
    GOOGLE_CLIENT_SECRET: "s",
  });
  const { identityProviders } = await import("./identities");
  const checks = identityProviders(async () => ({ refused: "NoAccount" })).map(({ id, options }) => [
    id,
    (options as { checks?: string[] } | undefined)?.checks,
  ]);
  expect(checks.slice(0, 2)).toEqual([
    ["github", ["pkce", "state"]],
    ["google", ["pkce", "state", "nonce"]],
  ]);
  const { location } = await openBrowser().post("/api/auth/signin/github");
  expect(location?.origin).toBe("https://github.com");
  for (const name of ["state", "code_challenge"])
    expect(location?.searchParams.get(name)?.length, name).toBeGreaterThanOrEqual(43);
});

test("a sign-in from an address that is not ours is refused in the form that next-auth's client reads", async () => {
  const url = new URL("/api/auth/callback/credentials", publicUrl);
  const headers = { origin: "https://panel.test", host: "backend", "sec-fetch-site": "same-origin" };
  const refused = await POST(new NextRequest(url, { method: "POST", headers }), {
    params: Promise.resolve({ nextauth: ["callback", "credentials"] }),
  });
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({
    detail: {
      code: "CrossSiteRequest",
      message: expect.stringContaining("set PUBLIC_URL to https://panel.test"),
    },
    url: "https://panel.test/sign-in?error=CrossSiteRequest",
  });
});
