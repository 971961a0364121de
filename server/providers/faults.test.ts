import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sha256Hex } from "@/server/platform/text/canonical";
import { SCRIPTS, type ScriptName } from "@/testing/responses-server/scripts";
import { type ResponsesServer, startResponsesServer } from "@/testing/responses-server/server";
import type { ProviderFault } from "./define";
import openai from "./openai";
import { sendPin } from "./pins";
import { caughtFault, everythingOf, ioFor, pinApi } from "./testing/vendor";

/* Submits to a Responses server that fails in every known way, and checks that each report is exact. */

const SECRET = "sk-canary-0a9b8c7d6e5f4a3b2c1d";

type Kind = "answered" | `${ProviderFault["kind"]}/${ProviderFault["submission"]}`;
const EXPECTED: Record<ScriptName, Kind> = {
  answers: "answered",
  "accepts and closes": "lost/ambiguous",
  "speaks no HTTP": "lost/ambiguous",
  "closes after the head of the request": "lost/ambiguous",
  "reads half of the body and resets": "lost/ambiguous",
  "reads everything and closes": "lost/ambiguous",
  "reads everything and ends": "lost/ambiguous",
  "reads everything and resets": "lost/ambiguous",
  "reads everything and is silent": "lost/ambiguous",
  "answers before the body is there": "refused/attempted",
  "status line cut": "lost/ambiguous",
  "headers cut": "lost/ambiguous",
  "headers, then silence": "lost/ambiguous",
  "headers, then the end": "lost/ambiguous",
  "body cut after one byte": "lost/ambiguous",
  "body cut in the middle": "lost/ambiguous",
  "body cut before its last byte": "lost/ambiguous",
  "body cut by a reset": "lost/ambiguous",
  "half a body, then silence": "lost/ambiguous",
  "chunks without an end": "lost/ambiguous",
  "chunks, then silence": "lost/ambiguous",
  "a chunk of no size": "lost/ambiguous",
  "a length too long": "lost/ambiguous",
  "a length too short": "failed/attempted",
  "two lengths": "lost/ambiguous",
  "another protocol": "lost/ambiguous",
  "headers without an end": "lost/ambiguous",
  "a body without an end": "failed/attempted",
  chunks: "answered",
  "no length, ended by closing": "answered",
  // The client did not ask to continue, so it treats this as no answer and hangs up.
  "100 before the answer": "lost/ambiguous",
  "100 twenty times": "lost/ambiguous",
  "hints before the answer": "answered",
  "dropped after the answer": "answered",
  "two answers to one request": "answered",
  "429 once": "capacity/attempted",
  "429 twice": "capacity/attempted",
  "429 three times": "capacity/attempted",
  "429 ten times": "capacity/attempted",
  "429 with retry-after": "capacity/attempted",
  "429 for ever": "capacity/attempted",
  "429 cut in its body": "capacity/attempted",
  "503 overloaded once": "capacity/attempted",
  "529 once": "capacity/attempted",
  "429, then a reset": "capacity/attempted",
  "429, then 400": "capacity/attempted",
  "429 for want of credit": "refused/attempted",
  "400": "refused/attempted",
  "401": "refused/attempted",
  "403": "refused/attempted",
  "404": "refused/attempted",
  "413": "refused/attempted",
  "422": "refused/attempted",
  "400 without JSON": "refused/attempted",
  "400 cut in its body": "refused/attempted",
  "500": "failed/attempted",
  "502 in HTML": "failed/attempted",
  "503 without a word": "failed/attempted",
  "504": "failed/attempted",
  "408": "failed/attempted",
  "a redirect to a metadata address": "refused/attempted",
  "307 to itself": "refused/attempted",
  "a gzip bomb": "failed/attempted",
  "204": "failed/attempted",
  "an empty body": "failed/attempted",
  "bad JSON": "failed/attempted",
  "JSON that is null": "failed/attempted",
  "JSON of another shape": "failed/attempted",
  "no usage": "failed/attempted",
  "no figures in the usage": "failed/attempted",
  "usage below zero": "failed/attempted",
  "no model": "failed/attempted",
  "no id": "failed/attempted",
  "status failed": "failed/attempted",
  "status failed, nothing counted": "failed/attempted",
  "status cancelled": "failed/attempted",
  "repeats the key in an error": "refused/attempted",
  "repeats the key in an answer": "failed/attempted",
  "repeats the key as its id": "failed/attempted",
  "empty text": "answered",
  "reasoning and no text": "answered",
  "a tool call": "answered",
  "a refusal": "answered",
  "cut by max_output_tokens": "answered",
  "cut by a content filter": "answered",
  "a large answer": "answered",
  "usage above the hold": "answered",
  "400 on flex": "refused/attempted",
  "flex full once": "capacity/attempted",
  "flex served as flex": "answered",
  "flex served as default": "answered",
};

const folder = mkdtempSync(join(tmpdir(), "responses-"));
let server: ResponsesServer;
beforeAll(() => {
  server = startResponsesServer(folder);
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const api = pinApi(openai, "responses");

test.each(Object.entries(EXPECTED) as [ScriptName, Kind][])(
  'a server with "%s" is reported as %s',
  async (name, expected) => {
    const patience = new AbortController();
    const io = ioFor(openai, "gpt-5.6-luna", "text", {
      baseUrl: await server.open(name, SCRIPTS[name]),
      credentials: { apiKey: SECRET },
      signal: patience.signal,
      tier: name.includes("flex") ? "flex" : "standard",
    });
    const call = { input: "Name a fish. ".repeat(2_000), sampling: {} };
    const bytes = Buffer.from(JSON.stringify(api.body(call, io.model, io.tier)));
    const sending = sendPin(api, bytes, io);
    if (name.includes("silen")) {
      sending.catch(() => {}); // awaited below
      await expect.poll(() => server.arrived(name).length, { interval: 5, timeout: 10_000 }).toBe(1);
      await new Promise((passed) => setTimeout(passed, 20)); // lets bytes that are still on their way arrive
      patience.abort();
    }
    if (expected === "answered") {
      expect(await sending).toMatchObject({ providerRequestId: "resp_0a1b2c", status: 200 });
    } else {
      const fault = await caughtFault(sending);
      expect(`${fault.kind}/${fault.submission}`).toBe(expected);
      expect(everythingOf(fault)).not.toContain(SECRET.slice(0, 12));
    }
    const arrived = server.arrived(name);
    expect(arrived).toHaveLength(name === "accepts and closes" ? 0 : 1);
    expect(server.connections(name)).toBe(1);
    for (const { attemptId, sha256 } of arrived) {
      expect(attemptId).toBe(io.attemptId);
      if (sha256 !== null) expect(sha256).toBe(sha256Hex(bytes));
    }
  },
);

test("a request is not attempted if the connection is refused or the server has no TLS", async () => {
  const plain = (await server.open("no TLS", SCRIPTS["speaks no HTTP"])).replace("http:", "https:");
  for (const url of ["http://127.0.0.1:1", plain]) {
    const io = ioFor(openai, "gpt-5.6-luna", "text", { baseUrl: url, credentials: { apiKey: SECRET } });
    const fault = await caughtFault(sendPin(api, Buffer.from("{}"), io));
    expect(`${fault.kind}/${fault.submission}`).toBe("unreachable/not_attempted");
  }
  expect(server.arrived("no TLS")).toEqual([]);
});
