import { expect, test } from "vitest";
import { faultOfAnswer } from "./faults";
import { retryAfter } from "./retry-after";

const NOW = Date.parse("2026-11-27T12:00:00Z");
const waitOf = (headers: Record<string, string>, body: unknown = null) =>
  retryAfter((name) => headers[name] ?? null, body, NOW);

test.each<[Record<string, string>, number | undefined]>([
  [{ "retry-after": "7" }, 7_000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after": "1s" }, 1_000],
  [{ "retry-after": "2m59.56s" }, 179_560],
  [{ "retry-after": "86400" }, 86_400_000],
  [{ "retry-after": "Fri, 27 Nov 2026 12:00:30 GMT" }, 30_000],
  [{ "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }, 0],
  [{ "retry-after": "-5" }, 0],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "in 5 minutes" }, undefined],
  [{ "retry-after": "1e300" }, undefined],
  [{ "retry-after": "" }, undefined],
  [{ "retry-after-ms": "250", "retry-after": "7" }, 250],
  [{ "retry-after-ms": "", "retry-after": "7" }, 7_000],
  [{ "x-ratelimit-reset-requests": "6m0s" }, 360_000],
  [{ "x-ratelimit-reset-tokens": "20ms" }, 20],
  [{ "x-ratelimit-reset": "1795780810" }, 10_000],
  [{ "x-ratelimit-reset": "1795780810000" }, 10_000],
  [{ "anthropic-ratelimit-tokens-reset": "2026-11-27T12:00:09Z" }, 9_000],
  [{ "anthropic-ratelimit-unified-reset": "1795780860" }, 60_000],
])("the headers %j request %s ms", (headers, expected) => expect(waitOf(headers)).toBe(expected));

test("the latest exhausted limit counts, or the earliest reset if none is exhausted", () => {
  const both = { "x-ratelimit-reset-requests": "6m0s", "x-ratelimit-reset-tokens": "2s" };
  expect(waitOf(both)).toBe(2_000);
  expect(
    waitOf({ ...both, "x-ratelimit-remaining-requests": "0", "x-ratelimit-remaining-tokens": "9" }),
  ).toBe(360_000);
});

test.each<[unknown, number]>([
  [{ error: { details: [{ "@type": "…/google.rpc.Help" }, { retryDelay: "34.5s" }] } }, 34_500],
  [[{ error: { details: [{ retryDelay: "34s" }] } }], 34_000],
  [{ detail: "Throttled.", retry_after: 8 }, 8_000],
  [{ error: { metadata: { headers: { "X-RateLimit-Reset": "1795780810000" } } } }, 10_000],
  [{ error: { message: "Limit reached. Please try again in 1m5.289s. Visit us." } }, 65_289],
  [{ error: { message: "Limit reached, please try again after 1 seconds" } }, 1_000],
  [{ error: { message: "Please retry in 58.934310785s." } }, 58_935],
])("the body %j requests %s ms", (body, expected) => expect(waitOf({}, body)).toBe(expected));

test("a sentence without a duration requests no wait", () => {
  for (const message of ["Please try again in a while.", "Try again in 5 apples.", "Retry.", 7])
    expect(waitOf({}, { error: { message } })).toBeUndefined();
});

const faultOf = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  faultOfAnswer({ status, header: (name) => headers[name] ?? null }, body, { credentials: {} });

test("a 503 is a lack of capacity with retry-after, and a failure with the reset of a limit alone", () => {
  expect(faultOf(503, {}, { "x-ratelimit-reset-requests": "1s" }).kind).toBe("failed");
  expect(faultOf(503, {}, { "retry-after": "1" }).kind).toBe("capacity");
});

test.each([
  [429, { error: { type: "exceeded_current_quota_error", message: "Recharge." } }],
  [429, { error: { code: "1113" } }],
  [429, { error: { code: 1113 } }],
  [429, [{ error: { code: "insufficient_quota" } }]],
  [400, { code: "Arrearage", message: "Access denied." }],
  [402, {}],
])("an account without credit (%i %j) is refused without a wait", (status, body) => {
  const { kind, details, message } = faultOf(status, body, { "retry-after": "1" });
  expect(kind).toBe("refused");
  expect(details.retryAfterMs).toBeUndefined();
  expect(message).toContain("credit");
});
