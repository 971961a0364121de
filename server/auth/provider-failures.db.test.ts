import { createServer, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { log } from "@/server/platform/log/log";
import { CLIENT, startOidcServer } from "@/testing/oidc-server";
import { SELF_SIGNED } from "@/testing/self-signed";
import { setSettings } from "@/testing/settings";
import { openBrowser } from "@/testing/sign-in-browser";
import { makePerson, makeTenant } from "@/testing/tenants";

let provider: Awaited<ReturnType<typeof startOidcServer>>;
let claims: { sub: string; email: string; email_verified: true };
beforeAll(async () => {
  const [{ organizationId }, started] = await Promise.all([makeTenant(), startOidcServer()]);
  provider = started;
  const { userId, email } = await makePerson(organizationId, "member");
  claims = { sub: userId, email, email_verified: true };
});
afterAll(async () => {
  await provider.close();
});
const logged = vi.spyOn(log, "error").mockReturnValue();
beforeEach(async () => {
  setSettings({
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: CLIENT.id,
    OIDC_CLIENT_SECRET: CLIENT.secret,
  });
  await signIn(); // clears the failures of earlier tests
  logged.mockClear();
});

function signIn() {
  provider.signIn({ claims });
  return openBrowser().throughProvider("oidc");
}
const begin = () => openBrowser().post("/api/auth/signin/oidc");
const lines = () => logged.mock.calls.map(([facts]) => facts);
const failure = (code: string, cause: string) => ({ code, provider: "oidc", cause });

const busy: RequestListener = (_request, response) => response.writeHead(503).end("secret-words");
const UNKNOWN_HOST = "http://no-such-host.invalid";

test.each([
  [
    "a certificate that is not trusted",
    "The certificate of the identity provider is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT). If an authority of your own signed it, name that authority's file in NODE_EXTRA_CA_CERTS.",
    async () => {
      const server = createSecureServer(SELF_SIGNED, busy);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return {
        issuer: `https://localhost:${(server.address() as AddressInfo).port}`,
        close: () => server.close(),
      };
    },
  ],
  [
    "a 503",
    "The identity provider answered 503.",
    async () => {
      const server = createServer(busy);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return {
        issuer: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        close: () => server.close(),
      };
    },
  ],
  [
    "a port that nothing listens on",
    "The identity provider could not be reached (ECONNREFUSED).",
    async () => ({
      issuer: "http://127.0.0.1:1",
      close: () => {},
    }),
  ],
])("%s is logged once, with its cause", async (_name, cause, open) => {
  const { issuer, close } = await open();
  setSettings({ OIDC_ISSUER: issuer });
  for (let n = 0; n < 3; n++) await begin();
  expect(lines()).toEqual([failure("SIGNIN_OAUTH_ERROR", cause)]);
  close();
});

test("an unknown host is logged as such", async () => {
  setSettings({ OIDC_ISSUER: UNKNOWN_HOST });
  await begin();
  expect(lines()).toEqual([
    failure(
      "SIGNIN_OAUTH_ERROR",
      expect.stringMatching(
        /^The host name of the identity provider cannot be resolved \((ENOTFOUND|EAI_AGAIN)\)\.$/,
      ),
    ),
  ]);
});

test("a wrong client secret is logged as such, once until a sign-in works, without the provider's message", async () => {
  const wrong = failure(
    "OAUTH_CALLBACK_ERROR",
    "The identity provider rejected our client id and secret (invalid_client).",
  );
  setSettings({ OIDC_CLIENT_SECRET: "wrong" });
  for (let n = 0; n < 3; n++) await signIn();
  expect(lines()).toEqual([wrong]);
  setSettings({ OIDC_CLIENT_SECRET: CLIENT.secret });
  await signIn();
  setSettings({ OIDC_CLIENT_SECRET: "wrong" });
  await signIn();
  expect(lines()).toEqual([wrong, wrong]);
  setSettings({ OIDC_CLIENT_SECRET: CLIENT.secret });
  await signIn();
  logged.mockClear();
  provider.signIn({ claims, isRefusing: true });
  await openBrowser().throughProvider("oidc");
  expect(lines()).toEqual([
    failure("OAUTH_CALLBACK_ERROR", "The identity provider rejected the sign-in (invalid_grant)."),
  ]);
});

test("text that anyone puts into the callback's address is not logged", async () => {
  for (const error of ["secret-words", "secret-words again"])
    await openBrowser().ask(`/api/auth/callback/oidc?error=${encodeURIComponent(error)}`);
  expect(lines()).toEqual([
    failure("OAUTH_CALLBACK_HANDLER_ERROR", "The answer of the identity provider could not be used."),
  ]);
});
