import { expect, test } from "vitest";
import { ERRORS, type ErrorCode, Fault, ValidationFault } from "@/server/platform/errors/errors";
import { toOpenAIWire } from "./errors";

const errorAt = (loc: (string | number)[]) =>
  (
    toOpenAIWire(new ValidationFault([{ loc, msg: "Too long.", type: "value_error" }]), "req_1").body as {
      error: object;
    }
  ).error;

test("what is wrong at a place names it as OpenAI does; what is wrong with the whole body names no parameter", () => {
  expect(errorAt(["body", "messages", 0, "content"])).toMatchObject({
    message: "messages[0].content: Too long.",
    param: "messages[0].content",
  });
  expect(errorAt(["body"])).toMatchObject({ message: "Too long.", param: null });
});

/** What has not reached a provider, or was turned away by it without a charge, and may be different next time. */
const SAFE_TO_REPEAT: ErrorCode[] = [
  "RequestTimeout",
  "AuthorizationPending",
  "RateLimited",
  "DURABLE_CONCURRENCY_LIMIT",
  "ServiceUnavailable",
  "JobNotFinished",
  "ProviderUnavailable",
  "QueueTimeout",
];

test.each(Object.keys(ERRORS) as ErrorCode[])(
  "x-should-retry of %s says whether a repeat is safe",
  (code) => {
    const { status, headers } = toOpenAIWire(new Fault(code, "No.", { retryAfterSeconds: 5 }), "req_1");
    expect(status).toBe(ERRORS[code].status);
    expect(headers["x-should-retry"]).toBe(String(SAFE_TO_REPEAT.includes(code)));
  },
);

test("what broke in an unknown way, and what was wrong with the request, are not to be repeated", () => {
  for (const error of [
    new Error("bug"),
    new ValidationFault([{ loc: ["body"], msg: "No.", type: "value_error" }]),
  ])
    expect(toOpenAIWire(error, "req_1").headers["x-should-retry"]).toBe("false");
});
