import { fail } from "@/server/platform/errors/errors";
import { log } from "@/server/platform/log/log";
import { env, publicUrl } from "@/server/platform/settings/env";
import type { Incoming } from "./transport";

/** The part of a request that these checks read. */
type Asked = Pick<Incoming, "header">;

const PUBLIC_ORIGIN = new URL(publicUrl).origin;

/**
 * True if the request comes from a page of ours. Its Origin must be that of PUBLIC_URL, or name the host the request was sent
 * to. Browsers omit Origin in some same-origin requests, and then mark them with Sec-Fetch-Site.
 */
export function isOwnPage(asked: Asked): boolean {
  const origin = asked.header("origin");
  return origin === undefined
    ? asked.header("sec-fetch-site") === "same-origin"
    : origin === PUBLIC_ORIGIN || isOfHost(origin, asked);
}

/**
 * Refuses a request that does not come from our own pages, with CrossSiteRequest (403). Every path that accepts a
 * session's cookie calls this for state-changing requests.
 */
export function requireOwnPage(asked: Asked): void {
  const site = asked.header("sec-fetch-site");
  const isSameSite = site === undefined || site === "same-origin";
  if (isSameSite && isOwnPage(asked)) return;
  const origin = isSameSite ? statedOrigin(asked) : null;
  if (!origin)
    fail(
      "CrossSiteRequest",
      "This request must come from the panel's own pages. Reload the panel and try again.",
    );
  // The browser considers the page same-origin, so the address differs from PUBLIC_URL because of a wrong setting.
  warn(origin, hostOf(asked));
  fail(
    "CrossSiteRequest",
    `This page was opened at ${origin}, but this installation is set up for ${PUBLIC_ORIGIN}. Open it there, or ask your operator to set PUBLIC_URL to ${origin}.`,
  );
}

/**
 * True if the request comes from a program. A browser adds at least one of these headers to a request that another site
 * triggers, and no page can remove them.
 */
export const isProgram = (asked: Asked): boolean =>
  ["origin", "cookie", "sec-fetch-site"].every((name) => asked.header(name) === undefined);

/** The origin that a page states; null if it states none or an invalid one, such as the `null` of sandboxed documents. */
export function statedOrigin(asked: Asked): string | null {
  const origin = asked.header("origin");
  return origin !== undefined &&
    origin.length < 300 &&
    URL.canParse(origin) &&
    new URL(origin).origin === origin
    ? origin
    : null;
}

/**
 * True if the origin is that of the request's host. X-Forwarded-Proto can only forbid: TLS may end in front of the proxy that
 * wrote it, and Next fills it in when it is absent, so `http` proves nothing.
 */
function isOfHost(origin: string, asked: Asked): boolean {
  const host = hostOf(asked);
  if (host === undefined || !URL.canParse(origin)) return false;
  const { protocol } = new URL(origin);
  if (protocol === "http:" && forwarded("x-forwarded-proto", asked) === "https") return false;
  const own = `${protocol}//${host}`;
  return URL.canParse(own) && new URL(own).origin === origin;
}

const hostOf = (asked: Asked) => forwarded("x-forwarded-host", asked) ?? asked.header("host");

/** A header written by our own proxies. Anyone can send such a header, so it is ignored without TRUSTED_PROXIES. */
function forwarded(name: string, asked: Asked): string | undefined {
  if (env.TRUSTED_PROXIES === 0) return undefined;
  const hops = asked
    .header(name)
    ?.split(",")
    .map((hop) => hop.trim());
  return (hops?.at(-env.TRUSTED_PROXIES) ?? hops?.[0]) || undefined;
}

const MINUTE_MS = 60_000;
let warned = { about: "", at: Number.NEGATIVE_INFINITY };

/** Logs a wrong setting when it changes and at most once a minute: anyone can send requests with any Origin. */
function warn(origin: string, host: string | undefined): void {
  const now = performance.now();
  const about = `${origin} ${host}`;
  if (about === warned.about || now - warned.at < MINUTE_MS) return;
  warned = { about, at: now };
  log.warn(
    { origin, expected: PUBLIC_ORIGIN, host },
    "a page's request was rejected: its Origin is neither that of PUBLIC_URL nor the request's host. If people use this address, set PUBLIC_URL to it",
  );
}
