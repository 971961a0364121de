import OpenAI, { APIError, toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OpenAIError } from "@/server/contract/openai";
import { startServer, type WebServer } from "@/server/web/server";
import { call, makeTenant, type Tenant } from "@/testing/api";
import { insteadOf } from "./unserved";

/* What of OpenAI's interface is not served, as its own client reads it: an error with words, and no second request. */

let tenant: Tenant;
let server: WebServer;
let client: OpenAI;
beforeAll(async () => {
  tenant = await makeTenant();
  server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
  client = new OpenAI({ apiKey: tenant.key, baseURL: `${server.url}/v1` });
});
afterAll(async () => {
  await server.stop(1_000);
});

const file = () => toFile(Buffer.from("x"), "a.mp3");

test.each<[string, () => Promise<unknown>, number, string]>([
  ["completions", () => client.completions.create({ model: "x", prompt: "x" }), 404, "/v1/chat/completions"],
  ["moderations", () => client.moderations.create({ input: "x" }), 404, "text.structured"],
  ["files", () => client.files.list(), 404, "/v1/artifacts"],
  ["a file's content", () => client.files.content("file-1"), 404, "/v1/artifacts"],
  [
    "transcriptions",
    async () => client.audio.transcriptions.create({ file: await file(), model: "whisper-1" }),
    404,
    "/v1/capability-requests",
  ],
  ["variations", async () => client.images.createVariation({ image: await file() }), 404, "/v1/images/edits"],
  ["batches", () => client.batches.list(), 404, "/jobs"],
  ["fine tuning", () => client.fineTuning.jobs.list(), 404, "/v1/adapters"],
  ["assistants", () => client.beta.assistants.list(), 404, "/v1/responses"],
  ["threads", () => client.beta.threads.create(), 404, "/v1/responses"],
  ["vector stores", () => client.vectorStores.list(), 404, "/v1/embeddings"],
  ["a response", () => client.responses.retrieve("wfr_1"), 404, "/v1/jobs/{id}"],
  ["the end of a response", () => client.responses.cancel("wfr_1"), 404, "/v1/jobs/{id}/cancel"],
  ["a stored completion", () => client.chat.completions.retrieve("wfr_1"), 404, "/v1/jobs/{id}"],
  ["stored completions", () => client.chat.completions.list(), 405, "/v1/jobs"],
  ["the end of a model", () => client.models.delete("x"), 405, "/v1/models"],
])("%s: the client's error says what to use instead", async (_title, ask, status, instead) => {
  const error = await ask().then(
    () => null,
    (cause) => cause,
  );
  expect(error).toBeInstanceOf(APIError);
  expect(error.status).toBe(status);
  expect(error.message).toContain(instead);
  expect(error.code).toBe(status === 404 ? "NotFound" : "MethodNotAllowed");
  expect(error.headers.get("x-should-retry")).toBe("false");
  if (status === 405) expect(error.headers.get("allow")).toContain("OPTIONS");
});

test("what is not served is said in OpenAI's shape to every caller, and other paths in our own", async () => {
  const stranger = await call("GET", "/v1/files");
  expect(stranger.status).toBe(404);
  expect(OpenAIError.parse(stranger.json)).toEqual(stranger.json);
  const wrong = await call("GET", "/v1/files", { key: "cap_development_nothing" });
  expect(wrong.status).toBe(401);
  expect(OpenAIError.parse(wrong.json)).toEqual(wrong.json);
  const other = await tenant.get("/v1/nothing");
  expect(other.json.detail.code).toBe("NotFound");
  expect(insteadOf("/v1/filesystem")).toBeNull();
  expect(insteadOf("/v1/constructor")).toBeNull();
});
