import { expect, test } from "vitest";
import { ERRORS, type ErrorCode, Fault, ValidationFault } from "@/server/platform/errors/errors";
import { toOpenAIWire } from "./errors";

const errorAt = (loc: (string | number)[]) =>
  (
    toOpenAIWire(new ValidationFault([{ loc, msg: "Too long.", type: "value_error" }]), "req_1").body as {
      error: object;
    }
  ).error;

test("an error at a field names the field as OpenAI does, and an error of the whole body names no parameter", () => {
  expect(errorAt(["body", "messages", 0, "content"])).toMatchObject({
    message: "messages[0].content: Too long.",
    param: "messages[0].content",
  });
  expect(errorAt(["body"])).toMatchObject({ message: "Too long.", param: null });
});

/**
 * Errors before a provider was reached, or of a provider that rejected the request without a charge, and that may pass on a
 * retry.
 */
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
  "the x-should-retry header of %s is true only if a retry is safe",
  (code) => {
    const { status, headers } = toOpenAIWire(new Fault(code, "No.", { retryAfterSeconds: 5 }), "req_1");
    expect(status).toBe(ERRORS[code].status);
    expect(headers["x-should-retry"]).toBe(String(SAFE_TO_REPEAT.includes(code)));
  },
);

test("unknown failures and invalid requests are not to be retried", () => {
  for (const error of [
    new Error("bug"),
    new ValidationFault([{ loc: ["body"], msg: "No.", type: "value_error" }]),
  ])
    expect(toOpenAIWire(error, "req_1").headers["x-should-retry"]).toBe("false");
});
