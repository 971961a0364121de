import { createHash, timingSafeEqual } from "node:crypto";
import { isOwnPage, isProgram, requireOwnPage } from "@/server/api/own-page";
import { personOfCookie } from "@/server/auth/claims";
import { cookies, SESSION_COOKIE } from "@/server/auth/cookies";
import { access } from "@/server/domain/access";
import type { Principal } from "@/server/domain/ctx";
import { fail } from "@/server/platform/errors/errors";
import { networkOf } from "@/server/platform/network-of";
import { env } from "@/server/platform/settings/env";
import { addressLimit, countRequest } from "./rate-limit";
import { announcesBody, type Incoming } from "./transport";

const CSRF_COOKIE = cookies.csrfToken?.name ?? "capstan.csrf-token";
const BEARER = /^bearer +(\S+) *$/i;
const ONE_REALM = { "www-authenticate": 'Bearer realm="capstan"' };

type Credential =
  | { kind: "none" }
  | { kind: "key" | "panel"; text: string }
  /** The bearer token of a signed-in device. */
  | { kind: "device"; text: string }
  /** The cookie of a signed-in browser. */
  | { kind: "cookie"; token: string };

/**
 * Identifies the caller and counts the request against their rate limit. A caller without a credential is `anonymous`;
 * a wrong credential is AuthenticationFailed (401) even if none is needed. Failed credentials count against the
 * address, whose limit is checked before the database is queried, except for a key that worked recently. With
 * `takesPrograms`, a program may use an embed session (`isProgram`).
 */
export async function identifyCaller(
  incoming: Incoming,
  {
    now,
    headers,
    bodyType = "application/json",
    takesPrograms = false,
  }: {
    now: Date;
    headers: Record<string, string>;
    bodyType?: BodyType | undefined;
    takesPrograms?: boolean | undefined;
  },
): Promise<Principal> {
  const credential = credentialOf(incoming);
  const caller = networkOf(incoming.address);
  if (credential.kind === "none") {
    const anonymous = { kind: "anonymous", id: "anonymous", address: incoming.address } as const;
    countRequest(anonymous, incoming.address, headers);
    return anonymous;
  }
  const isKnown = credential.kind === "key" && access.isRecentKey(credential.text);
  if (!isKnown && addressLimit.isSpent(caller)) addressLimit.take(caller, headers);
  const principal = await holderOf(credential, now);
  if (!principal) {
    addressLimit.take(caller, headers);
    Object.assign(headers, ONE_REALM);
    fail(
      "AuthenticationFailed",
      "This API key or session is invalid, expired or revoked. Check the Authorization header, or create a new key.",
    );
  }
  countRequest(principal, incoming.address, headers);
  if (credential.kind === "cookie") requireOwnWrite(incoming, bodyType);
  if (principal.kind === "panel_session" && !(takesPrograms && isProgram(incoming)))
    requirePageOf(principal, incoming);
  return principal;
}

function holderOf(credential: Exclude<Credential, { kind: "none" }>, now: Date): Promise<Principal | null> {
  switch (credential.kind) {
    case "key":
      return access.keyPrincipal(credential.text, now);
    case "panel":
      return access.embedHolder(credential.text, now);
    case "device":
      return access.devicePrincipal(credential.text, now);
    case "cookie":
      return personOfCookie(credential.token, now);
  }
}

/**
 * Lets a page of another origin read the response (CORS) if an embed session is bound to that origin and the request
 * has an embed token or no credential; a cookie is not enough. An address over its limit gets no permission, without a
 * database query.
 */
export async function admitPage(
  incoming: Incoming,
  now: Date,
  headers: Record<string, string>,
): Promise<void> {
  const origin = incoming.header("origin");
  if (origin === undefined) return;
  const { kind } = credentialOf(incoming);
  if (kind !== "panel" && kind !== "none") return;
  headers.vary = "origin";
  if (addressLimit.isSpent(networkOf(incoming.address))) return;
  if (!(await access.isEmbedOrigin(origin, now))) return;
  headers["access-control-allow-origin"] = origin;
  headers["access-control-expose-headers"] = READABLE;
}

/** Response headers that pages may read, in addition to those a browser always exposes. */
const READABLE =
  "x-request-id, x-execution-id, x-idempotent-replay, retry-after, ratelimit-limit, ratelimit-policy, ratelimit-remaining, ratelimit-reset, etag, content-disposition, accept-ranges, content-range";
/** Request headers that pages may send. */
const SENDABLE =
  "authorization, content-type, idempotency-key, if-none-match, last-event-id, range, x-request-id";

/**
 * Adds the headers of a CORS preflight. The page gets permission for `methods`, which pages may call, if an embed
 * session is bound to its origin. A preflight has no credential, so it does not predict whether the request itself will
 * succeed. Throws RateLimited.
 */
export async function preflight(
  incoming: Incoming,
  now: Date,
  methods: readonly string[],
  headers: Record<string, string>,
): Promise<void> {
  const origin = incoming.header("origin");
  if (origin === undefined || incoming.header("access-control-request-method") === undefined) return;
  addressLimit.take(networkOf(incoming.address), headers);
  headers.vary = "origin";
  if (methods.length === 0 || !(await access.isEmbedOrigin(origin, now))) return;
  headers["access-control-allow-origin"] = origin;
  headers["access-control-allow-methods"] = methods.join(", ");
  headers["access-control-allow-headers"] = SENDABLE;
  headers["access-control-max-age"] = "600";
}

/**
 * An embed session is for pages of its origins, and for our own page in their frames. Same-origin requests may have no
 * Origin header; the browser then marks them as same-origin.
 */
function requirePageOf({ origins }: Extract<Principal, { kind: "panel_session" }>, incoming: Incoming): void {
  const origin = incoming.header("origin");
  if (!isOwnPage(incoming) && !(origin !== undefined && origins.includes(origin)))
    fail(
      "CrossSiteRequest",
      "This embed session is not allowed on this page's origin. Create a session whose origins include it.",
    );
}

/** Identifies the caller again during a long response: null when the credential is no longer valid. Counts against no limit. */
export async function identifyAgain(incoming: Incoming, now: Date): Promise<Principal | null> {
  const credential = credentialOf(incoming);
  if (credential.kind === "none") return { kind: "anonymous", id: "anonymous", address: incoming.address };
  return holderOf(credential, now);
}

/** Rejects a caller without a credential. */
export function refuseAnonymous(headers: Record<string, string>): never {
  Object.assign(headers, ONE_REALM);
  fail("AuthenticationFailed", "The request has no valid API key. Send one as Authorization: Bearer cap_…");
}

function credentialOf(incoming: Incoming): Credential {
  const authorization = incoming.header("authorization");
  if (authorization !== undefined) {
    if (authorization.startsWith("Bearer cap_"))
      return { kind: "key", text: authorization.slice(7).trimEnd() };
    const text = BEARER.exec(authorization)?.[1] ?? "";
    if (text.startsWith("capp_")) return { kind: "panel", text };
    // Every other scheme and token kind is treated as an unknown key.
    return { kind: text.startsWith("caps_") ? "device" : "key", text };
  }
  const cookie = incoming.header("cookie");
  const token = cookie === undefined ? "" : cookieOf(cookie, SESSION_COOKIE);
  return token ? { kind: "cookie", token } : { kind: "none" };
}

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * The media type that a signed-in browser's write must have; null for any. Only an endpoint for forms accepts a form.
 */
type BodyType = "application/json" | "multipart/form-data" | null;

/**
 * A browser may send our cookie with requests from other sites as well. A write must come from our own pages, match the
 * CSRF token if one is sent, and have the endpoint's content type: a form of another site cannot send JSON. A request
 * without a body needs no content type. Throws CrossSiteRequest (403) or UnsupportedMediaType (415).
 */
export function requireOwnWrite(incoming: Incoming, bodyType: BodyType): void {
  if (SAFE_METHODS.has(incoming.method)) return;
  requireOwnPage(incoming);
  const sent = incoming.header("x-csrf-token");
  if (sent !== undefined && !isOurCsrfToken(sent, incoming.header("cookie") ?? "")) {
    fail(
      "CrossSiteRequest",
      "The X-CSRF-Token does not belong to this session. Reload the page and try again.",
    );
  }
  const type = incoming.header("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
  const hasBody = announcesBody(incoming.header("transfer-encoding"), incoming.header("content-length"));
  if (type === undefined && !hasBody) return;
  if (bodyType && type !== bodyType) fail("UnsupportedMediaType", `Send the body as ${bodyType}.`);
}

/** next-auth's cookie is `<token>|<sha256 of token and secret>`; the header must be that token. */
function isOurCsrfToken(sent: string, cookie: string): boolean {
  const [token = "", signature = ""] = cookieOf(cookie, CSRF_COOKIE).split("|");
  const expected = createHash("sha256").update(`${token}${env.NEXTAUTH_SECRET}`).digest("hex");
  return isSameSecret(token, sent) && isSameSecret(signature, expected);
}

/** True if two texts are equal and not empty, compared in constant time. */
export function isSameSecret(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length > 0 && one.length === other.length && timingSafeEqual(one, other);
}

/** The value of a cookie, joined if next-auth split it into `name.0`, `name.1` …; empty if it is missing. */
function cookieOf(header: string, name: string): string {
  const found = new Map<string, string>();
  for (const pair of header.split(";")) {
    const cut = pair.indexOf("=");
    if (cut > 0) found.set(pair.slice(0, cut).trim(), pair.slice(cut + 1).trim());
  }
  const whole = found.get(name);
  if (whole !== undefined) return unescaped(whole);
  let joined = "";
  for (let part = 0; found.has(`${name}.${part}`); part++) joined += found.get(`${name}.${part}`);
  return unescaped(joined);
}

function unescaped(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
