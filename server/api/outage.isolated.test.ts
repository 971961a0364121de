import { expect, test, vi } from "vitest";

// Set before any import, so that this file's pool cannot connect.
vi.hoisted(() => {
  process.env.DATABASE_URL = "postgres://nobody@127.0.0.1:1/nothing";
});

import { makeKeyText } from "@/server/domain/access/key-text";
import { codeOfStatus } from "@/server/trpc/init";
import { call } from "@/testing/api";

test.each([
  ["GET", "/v1/jobs", undefined],
  ["GET", "/.well-known/jwks.json", undefined],
  ["POST", "/v1/capabilities/text.general.fast.v1/jobs", { messages: [{ role: "user", content: "Hello" }] }],
  ["POST", "/v1/capabilities/compute.evaluate.v1/invoke", { expression: "1 + 1" }],
])("while the database does not respond, %s %s is 503 with Retry-After", async (method, path, body) => {
  const isOpen = path.startsWith("/.well-known");
  const answer = await call(method, path, { ...(isOpen ? {} : { key: makeKeyText("development") }), body });
  expect(answer.status).toBe(503);
  expect(answer.headers["retry-after"]).toBe("5");
  expect(answer.headers["x-request-id"]).toMatch(/^req_/);
  expect(answer.json.detail).toEqual({
    code: "ServiceUnavailable",
    message: expect.stringContaining("storage"),
    retryable: true,
    nextAction: "retry_after_backoff",
    retryAfterSeconds: 5,
    details: { retryAfterSeconds: 5 },
  });
  expect(answer.text).not.toContain("127.0.0.1");
});

test("requests that need no database are still answered", async () => {
  expect((await call("GET", "/v1/capabilities")).status).toBe(200);
  expect(codeOfStatus(503)).toBe("SERVICE_UNAVAILABLE");
});
