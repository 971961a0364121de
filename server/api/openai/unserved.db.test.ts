import { toFile } from "openai";
import { expect, test } from "vitest";
import { OpenAIError } from "@/server/contract/openai";
import { call } from "@/testing/api";
import { refusal, serveOpenAI } from "./client.fixture";
import { insteadOf } from "./unserved";

/*
 * OpenAI's own client calls endpoints of OpenAI's interface that are not served. The client gets a readable error and sends no
 * second request.
 */

const world = serveOpenAI();

const file = () => toFile(Buffer.from("x"), "a.mp3");

test.each<[string, () => Promise<unknown>, number, string]>([
  [
    "completions",
    () => world.client.completions.create({ model: "x", prompt: "x" }),
    404,
    "/v1/chat/completions",
  ],
  ["moderations", () => world.client.moderations.create({ input: "x" }), 404, "text.structured"],
  ["files", () => world.client.files.list(), 404, "/v1/artifacts"],
  ["a file's content", () => world.client.files.content("file-1"), 404, "/v1/artifacts"],
  [
    "transcriptions",
    async () => world.client.audio.transcriptions.create({ file: await file(), model: "whisper-1" }),
    404,
    "/v1/capability-requests",
  ],
  [
    "variations",
    async () => world.client.images.createVariation({ image: await file() }),
    404,
    "/v1/images/edits",
  ],
  ["batches", () => world.client.batches.list(), 404, "/jobs"],
  ["fine tuning", () => world.client.fineTuning.jobs.list(), 404, "/v1/adapters"],
  ["assistants", () => world.client.beta.assistants.list(), 404, "/v1/responses"],
  ["threads", () => world.client.beta.threads.create(), 404, "/v1/responses"],
  ["vector stores", () => world.client.vectorStores.list(), 404, "/v1/embeddings"],
  ["a response", () => world.client.responses.retrieve("wfr_1"), 404, "/v1/jobs/{id}"],
  ["the end of a response", () => world.client.responses.cancel("wfr_1"), 404, "/v1/jobs/{id}/cancel"],
  ["a stored completion", () => world.client.chat.completions.retrieve("wfr_1"), 404, "/v1/jobs/{id}"],
  ["stored completions", () => world.client.chat.completions.list(), 405, "/v1/jobs"],
  ["the end of a model", () => world.client.models.delete("x"), 405, "/v1/models"],
])("the client's error for %s names the alternative", async (_title, ask, status, instead) => {
  const error = await refusal(ask());
  expect(error.status).toBe(status);
  expect(error.message).toContain(instead);
  expect(error.code).toBe(status === 404 ? "NotFound" : "MethodNotAllowed");
  expect(error.headers?.get("x-should-retry")).toBe("false");
  if (status === 405) expect(error.headers?.get("allow")).toContain("OPTIONS");
});

test("an endpoint that is not served is reported in OpenAI's shape to every caller, and other paths in our own", async () => {
  const stranger = await call("GET", "/v1/files");
  expect(stranger.status).toBe(404);
  expect(OpenAIError.parse(stranger.json)).toEqual(stranger.json);
  const wrong = await call("GET", "/v1/files", { key: "cap_development_nothing" });
  expect(wrong.status).toBe(401);
  expect(OpenAIError.parse(wrong.json)).toEqual(wrong.json);
  const other = await world.tenant.get("/v1/nothing");
  expect(other.json.detail.code).toBe("NotFound");
  expect(insteadOf("/v1/filesystem")).toBeNull();
  expect(insteadOf("/v1/constructor")).toBeNull();
});
