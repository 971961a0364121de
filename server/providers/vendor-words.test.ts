import { describe, expect, test } from "vitest";
import { toSecrets } from "@/server/platform/crypto/secret";
import { vendorWords } from "./vendor-words";

const KEY = "acme-9f8e7d6c5b4a3f2e1d0c";
const io = { credentials: toSecrets({ apiKey: KEY }) };
const wordsOf = (body: unknown) => vendorWords(body, io);
const messageOf = (message: string) => wordsOf({ error: { message } })?.message;

describe("error texts", () => {
  test.each([
    ["OpenAI", { error: { message: "No.", type: "invalid_request_error", code: "bad" } }, "bad", "No."],
    [
      "OpenAI without a code",
      { error: { message: "No.", type: "server_error", code: null } },
      "server_error",
      "No.",
    ],
    [
      "Anthropic",
      { type: "error", error: { type: "overloaded_error", message: "Busy." } },
      "overloaded_error",
      "Busy.",
    ],
    [
      "Google",
      [{ error: { code: 400, message: "No.", status: "INVALID_ARGUMENT" } }],
      "INVALID_ARGUMENT",
      "No.",
    ],
    ["Replicate", { title: "Unauthenticated", detail: "Log in.", status: 401 }, null, "Log in."],
    [
      "fal",
      { detail: [{ loc: ["body"], msg: "field required", type: "missing" }] },
      "missing",
      "field required",
    ],
    ["ElevenLabs", { detail: { status: "quota_exceeded", message: "Out." } }, "quota_exceeded", "Out."],
    ["Meshy", { message: "No such task" }, null, "No such task"],
    ["a plain text", "boom", null, "boom"],
    ["one string", { error: "model 'x' not found" }, null, "model 'x' not found"],
  ])("code and message of %s are found", (_vendor, body, code, message) => {
    expect(wordsOf(body)).toEqual({ code, message });
  });

  test("an HTML page, an empty body and a body without an error have no text", () => {
    for (const body of [
      "<html><title>502</title></html>",
      "",
      " \n",
      {},
      [],
      null,
      undefined,
      7,
      { error: {} },
    ])
      expect(wordsOf(body)).toBeNull();
  });
});

describe("texts for display", () => {
  test("a message has at most 500 characters in one line, without control characters and half characters", () => {
    expect(messageOf("a ".repeat(400))).toHaveLength(500);
    expect(messageOf("a ".repeat(400))?.endsWith("…")).toBe(true);
    expect(messageOf("one\r\n\ttwo\u0000three\u202efour\ud800")).toBe("one two three four");
  });

  test("a message contains neither the account's credentials nor parts of them", () => {
    expect(messageOf(`Incorrect API key ${KEY}!`)).toBe("Incorrect API key [redacted]!");
    expect(messageOf(`Incorrect ${KEY.slice(0, 16)}…`)).toBe("Incorrect [redacted]…");
    expect(messageOf(`Seen: ${Buffer.from(KEY).toString("base64")}.`)).not.toContain("YWNtZS");
    expect(wordsOf({ error: { message: "No.", code: KEY } })).toEqual({ code: null, message: "No." });
    const short = { credentials: toSecrets({ password: "hunter2" }) };
    expect(vendorWords("hunter2 is wrong", short)?.message).toBe("[redacted] is wrong");
  });

  test.each([
    ["Bearer abcdefghijkl0123456789", "Bearer [redacted]"],
    ["Basic authentication failed", "Basic authentication failed"],
    ["https://me:pass@host/v1 is down", "https://[redacted]@host/v1 is down"],
    ["Incorrect API key provided: qwertyuiop12.", "Incorrect API key provided: [redacted]"],
    ["password=correcthorse; retry", "password=[redacted]; retry"],
    ["got eyJhbGciOiJI.eyJzdWIiOiIx.sig-nature", "got [redacted]"],
    [`signature ${"0a".repeat(32)} is old`, "signature [redacted] is old"],
    ["sk-proj-abcdefghijklmnop0123", "[redacted]"],
    ["max_tokens: 99999999 is too large", "max_tokens: 99999999 is too large"],
    [
      "request 0f8fad5b-d9cb-469f-a165-70867728950e failed",
      "request 0f8fad5b-d9cb-469f-a165-70867728950e failed",
    ],
  ])('the message "%s" is shown as "%s"', (said, shown) => {
    expect(messageOf(said)).toBe(shown);
  });
});
