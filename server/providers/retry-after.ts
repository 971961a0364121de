import type { HttpAnswer } from "@/server/platform/http";
import { isObject } from "@/server/platform/text/json";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "@/server/platform/time/units";

/* Reads the wait that a vendor requests, in the forms that vendors document. */

type Header = HttpAnswer["header"];

/** Do the headers `retry-after` or `retry-after-ms` request a wait? */
export const asksToWait = (header: Header): boolean =>
  retryAfter((name) => (/^retry-after/.test(name) ? header(name) : null), null) !== undefined;

/** A longer value is not a wait. */
const LONGEST_MS = 3_650 * DAY_MS;
/** A number of at least this size is a time since 1970, in seconds or in milliseconds. */
const [SECONDS_OF_AN_EPOCH, MS_OF_AN_EPOCH] = [1_000_000_000, 1_000_000_000_000];
const UNITS: Record<string, number> = { d: DAY_MS, h: HOUR_MS, m: MINUTE_MS, s: 1_000, ms: 1 };

/**
 * The requested wait in milliseconds, from the first of: `retry-after-ms`, `retry-after`, the body's fields, the end of
 * a limit in the headers, the vendor's sentence. Undefined if there is none.
 */
export function retryAfter(header: Header, body: unknown, now = Date.now()): number | undefined {
  const read = (text: unknown) => waitOf(text, now);
  const exact = header("retry-after-ms")?.trim() ?? "";
  const waitMs =
    (/^-?\d+(\.\d+)?$/.test(exact) ? Number(exact) : undefined) ??
    read(header("retry-after")) ??
    inBody(body, read) ??
    resetIn(header, read) ??
    read(SENTENCE.exec(messageIn(body))?.[1]);
  return waitMs === undefined || waitMs > LONGEST_MS ? undefined : Math.max(0, Math.ceil(waitMs));
}

/**
 * Reads a wait in ms: a number of seconds, a duration such as `1s`, `6m0s` or `20ms`, or a time as a date or since
 * 1970. Undefined for anything else.
 */
function waitOf(given: unknown, now: number): number | undefined {
  const text = typeof given === "number" ? String(given) : typeof given === "string" ? given.trim() : "";
  if (/^-?\d+(\.\d+)?$/.test(text)) {
    const figure = Number(text);
    if (figure >= MS_OF_AN_EPOCH) return figure - now;
    return figure >= SECONDS_OF_AN_EPOCH ? figure * 1_000 - now : figure * 1_000;
  }
  if (DURATION.test(text))
    return [...text.matchAll(/([\d.]+)(ms|[dhms])/g)].reduce(
      (sum, [, amount, unit = ""]) => sum + Number(amount) * (UNITS[unit] ?? 0),
      0,
    );
  const moment = DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(moment) ? undefined : moment - now;
}

/** A date of HTTP or RFC 3339; `Date.parse` would accept other texts as well. */
const DATE = /^[A-Z][a-z]{2,8},? .*\d\d:\d\d|^\d{4}-\d\d-\d\dT/;
const DURATION = /^(\d+(\.\d+)?(ms|[dhms]))+$/;

/**
 * OpenAI, Groq: "Please try again in 6m0s."; Google: "Please retry in 58.9s."; Moonshot: "try again after 1 seconds".
 */
const SENTENCE =
  /\b(?:try again|retry) (?:in|after) ((?:\d+(?:\.\d+)?(?:ms|[dhms]))+|\d+(?:\.\d+)?(?= seconds?\b))/i;

/**
 * The wait until a limit resets, from headers of OpenAI, Groq, Anthropic and gateways. It is the latest reset of the
 * exhausted limits; if none is marked as exhausted, the earliest reset.
 */
function resetIn(header: Header, read: (text: unknown) => number | undefined): number | undefined {
  const limits = RESETS.flatMap((name) => {
    const waitMs = read(header(name));
    const isUsedUp = Number(header(name.replace("reset", "remaining")) || Number.NaN) <= 0;
    return waitMs === undefined ? [] : [{ waitMs, isUsedUp }];
  });
  const usedUp = limits.filter((each) => each.isUsedUp).map(({ waitMs }) => waitMs);
  if (usedUp.length > 0) return Math.max(...usedUp);
  return limits.length > 0 ? Math.min(...limits.map(({ waitMs }) => waitMs)) : undefined;
}

const KINDS = ["requests", "tokens", "input-tokens", "output-tokens"];
const RESETS = [
  ...["x-ratelimit-reset", "ratelimit-reset", ...KINDS.map((kind) => `x-ratelimit-reset-${kind}`)],
  ...["anthropic-ratelimit-unified-reset", ...KINDS.map((kind) => `anthropic-ratelimit-${kind}-reset`)],
];

/** The error inside a body; Google also sends a list with one body. */
function errorOf(body: unknown): Record<string, unknown> {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  if (!isObject(first)) return {};
  return isObject(first.error) ? first.error : first;
}

/** Google's `RetryInfo`, OpenRouter's copy of upstream headers, and `retry_after` of Replicate and others. */
function inBody(body: unknown, read: (text: unknown) => number | undefined): number | undefined {
  const { details, metadata, retry_after: asked } = errorOf(body);
  const info = Array.isArray(details) ? details.find((each) => isObject(each) && each.retryDelay) : null;
  const headers = isObject(metadata) && isObject(metadata.headers) ? metadata.headers : {};
  const named = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const upstream = (name: string) => {
    const value = named.get(name);
    return typeof value === "string" || typeof value === "number" ? String(value) : null;
  };
  return read(info?.retryDelay) ?? read(asked) ?? read(upstream("retry-after")) ?? resetIn(upstream, read);
}

function messageIn(body: unknown): string {
  const { message } = errorOf(body);
  return typeof message === "string" ? message : "";
}
