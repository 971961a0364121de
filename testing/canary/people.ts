import { unique } from "./house";
import type { Visit } from "./visit";

type Person = { cookie: string; password: string };

/** A person signs in a device; the device sends a request and is signed out. */
export async function signDeviceIn({ keep, must, ask, mustDo }: Visit, { cookie }: Person): Promise<void> {
  const started = await must("POST", "/v1/auth/device/start", { body: { clientName: "A terminal" } });
  const deviceCode = keep("a code of a device", started.deviceCode);
  await ask("POST", "/v1/auth/device/token", { body: { deviceCode } });
  await mustDo("account.lookAtDevice", { userCode: started.userCode }, cookie);
  await mustDo("account.decideDevice", { userCode: started.userCode, decision: "approved" }, cookie);
  const signedIn = await must("POST", "/v1/auth/device/token", { body: { deviceCode } });
  const key = keep("a session of a device", signedIn.sessionToken);
  keep("a token against forged requests", signedIn.csrfToken);
  await ask("POST", "/v1/auth/device/token", { body: { device_code: deviceCode } });
  const { items } = await must("GET", "/v1/auth/sessions", { key });
  await must("GET", "/v1/session/context", { key });
  const own = items.find(({ kind }: { kind: string }) => kind === "device");
  await must("DELETE", `/v1/auth/sessions/${own.sessionId}`, { key });
  await ask("GET", "/v1/auth/sessions", { key });
}

/** A person disconnects an identity provider, turns a second factor on, renews its recovery codes, turns it off, and changes the password. */
export async function changeOwnSecrets(visit: Visit, person: Person): Promise<void> {
  const { codeAt } = await import("@/testing/codes");
  const { keep, mustDo, procedure, pool } = visit;
  const { cookie, password } = person;
  await unlinkIdentity(visit, person);
  await procedure(
    "account.startSecondFactor",
    { password: keep("a wrong own password", unique()) },
    { cookie },
  );
  const { secret, uri } = await mustDo("account.startSecondFactor", { password }, cookie);
  keep("a secret of an authenticator", secret);
  keep("the address of its QR code", new URL(uri).search);
  // An authenticator's code is accepted once per time step, so the step that the person's row remembers is cleared.
  const code = async () => {
    await pool.query("UPDATE user_account SET second_factor_step = NULL");
    return { code: codeAt(secret, new Date()) };
  };
  const first = await mustDo("account.confirmSecondFactor", await code(), cookie);
  const next = await mustDo("account.renewRecoveryCodes", await code(), cookie);
  for (const each of [...first.recoveryCodes, ...next.recoveryCodes])
    keep(`the recovery code ${each.slice(0, 2)}…`, each);
  await mustDo("account.turnOffSecondFactor", { code: next.recoveryCodes[0] }, cookie);
  const wrong = {
    present: keep("a wrong present password", unique()),
    next: keep("a password not taken", unique()),
  };
  await procedure("account.changePassword", wrong, { cookie });
  await mustDo(
    "account.changePassword",
    { present: password, next: keep("the next password", `p ${unique()}`) },
    cookie,
  );
}

/** Disconnects an identity provider that signs the person in. */
async function unlinkIdentity(
  { keep, must, mustDo, procedure, pool }: Visit,
  { cookie, password }: Person,
): Promise<void> {
  const issuer = "https://github.com";
  const { items } = await must("GET", "/v1/auth/sessions", { cookie });
  const { sessionId } = items.find((session: { isCurrent: boolean }) => session.isCurrent);
  await pool.query(
    "INSERT INTO identity (issuer, subject, user_id, created_at) SELECT $1, $2, user_id, now() FROM session WHERE id = $3",
    [issuer, unique(), sessionId],
  );
  const wrong = keep("a wrong password at disconnecting", unique());
  await procedure("account.unlinkIdentity", { issuer, password: wrong }, { cookie });
  await mustDo("account.unlinkIdentity", { issuer, password }, cookie);
}

/** A new person is invited by mail and accepts. */
export async function invite(
  { keep, mustDo, procedure, until, house }: Visit,
  { cookie }: Person,
  organizationId: string,
  pasted: string,
) {
  await mustDo("organizations.invite", { organizationId, email: "new@example.com" }, cookie);
  const letter = () => house.mail.received.find(({ to }) => to.includes("new@example.com"));
  await until(async () => letter() !== undefined, "the letter");
  const token = keep("an invitation's token", /#([\w-]{20,})/.exec(letter()?.text ?? "")?.[1]);
  await mustDo("organizations.lookAtInvitation", { token });
  await procedure("organizations.lookAtInvitation", { token: pasted });
  const password = keep("a new password", `new ${unique(30)}`);
  await mustDo("organizations.acceptInvitation", { token, displayName: "New", password });
  await procedure("organizations.acceptInvitation", { token, displayName: "New", password });
}

/**
 * A person signs in with an identity provider: successfully, with an exchange that is refused and echoed, with a token that
 * another key signed, and with an invented code.
 */
export async function signInByProvider({ house, keep, hear, passed }: Visit, email: string): Promise<void> {
  const { keepCookies } = await import("@/testing/sign-in-browser");
  const { SESSION_COOKIE } = await import("@/server/auth/cookies");
  const { identities } = house;
  const jar = new Map<string, string>();
  const ask = async (target: string, form?: Record<string, string>) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("; ");
    const answer = await fetch(new URL(target, house.url), {
      redirect: "manual",
      headers: { cookie },
      ...(form && { method: "POST", body: new URLSearchParams(form) }),
    });
    const text = await answer.text();
    keepCookies(jar, answer.headers.getSetCookie());
    const location = answer.headers.get("location") ?? "";
    const { pathname } = new URL(target, house.url);
    hear(`answer ${pathname}`, `${JSON.stringify([...answer.headers])}\n${text}`);
    return { location, text };
  };
  /** Goes to the provider and back; `alter` changes the URL back to the product. Returns where the product then redirects. */
  async function roundTrip(alter: (back: URL) => void = () => {}): Promise<string> {
    const { csrfToken } = JSON.parse((await ask("/api/auth/csrf")).text);
    const answered = await ask("/api/auth/signin/oidc", { csrfToken, callbackUrl: "/docs" });
    const { location } = answered;
    if (!location) throw new Error(`sent nowhere: ${answered.text}`);
    const sent = await fetch(location, { redirect: "manual" });
    const back = new URL(sent.headers.get("location") ?? "");
    alter(back);
    const answer = await ask(`${back.pathname}${back.search}`);
    for (const { name, value } of identities.secrets) keep(`${name} ${value.slice(0, 4)}…`, value);
    return answer.location;
  }
  const refusals: string[] = [];
  const claims = { sub: unique(), email, email_verified: true };
  identities.signIn({ claims, isRefusing: true });
  refusals.push(await roundTrip());
  identities.signIn({ claims, signedBy: "other" });
  refusals.push(await roundTrip());
  identities.signIn({ claims });
  const madeUp = keep("a made-up code of a sign-in", unique());
  refusals.push(await roundTrip((back) => back.searchParams.set("code", madeUp)));
  if (refusals.some((location) => !location.includes("error="))) throw new Error(`let in: ${refusals}`);
  const isIn = await roundTrip();
  if (isIn.includes("error")) throw new Error(`not let in: ${isIn}`);
  keep("a session by a provider", jar.get(SESSION_COOKIE)?.split("..")[1]);
  passed.add("sign-in by a provider");
}
