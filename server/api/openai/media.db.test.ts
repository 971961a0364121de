import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { MPEGDecoder } from "mpg123-decoder";
import OpenAI, { toFile } from "openai";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { pool } from "@/server/platform/db";
import { receiptIdOf } from "@/server/platform/ids";
import { startServer, type WebServer } from "@/server/web/server";
import { makeKey, makeTenant, type Tenant } from "@/testing/api";
import { whiteSquare } from "@/testing/forms";
import { setSettings } from "@/testing/settings";
import { workFor } from "@/testing/work";
import { refusal } from "./client.fixture";

/* Embeddings, images and speech with OpenAI's own unmodified client, against a running server. */

const EMBED = "text.embed.v1";

let tenant: Tenant;
let server: WebServer;
let client: OpenAI;
let stopWork: () => Promise<void>;
const clientOf = (apiKey: string, more: object = {}) =>
  new OpenAI({ apiKey, baseURL: `${server.url}/v1`, ...more });

beforeAll(async () => {
  tenant = await makeTenant();
  server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
  client = clientOf(tenant.key);
  stopWork = workFor(tenant.projectId);
});
afterAll(async () => {
  await stopWork();
  await server.stop(1_000);
});

const executions = async (projectId = tenant.projectId) => {
  const { rows } = await pool.query<{ count: number }>(
    "SELECT count(*) AS count FROM job WHERE project_id = $1",
    [projectId],
  );
  return rows[0]?.count;
};

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

const near = (one: number[] = [], other: number[] = []) =>
  one.reduce((sum, each, place) => sum + each * (other[place] ?? 0), 0);

describe("embeddings", () => {
  test("each text becomes one vector, in order, in either encoding, with an execution and its receipt", async () => {
    const input = ["The river is deep.", "The river is wide.", "Cabbages and kings"];
    const { data: list, response } = await client.embeddings.create({ model: EMBED, input }).withResponse();
    expect(list).toMatchObject({ object: "list", model: "sandbox/sandbox-1" });
    expect(list.data.map(({ index, object }) => [index, object])).toEqual([
      [0, "embedding"],
      [1, "embedding"],
      [2, "embedding"],
    ]);
    const [one, two, three] = list.data.map(({ embedding }) => embedding);
    expect(one).toHaveLength(512);
    expect(near(one, two)).toBeGreaterThan(near(one, three));
    expect(list.usage.prompt_tokens).toBeGreaterThan(0);
    expect(list.usage.total_tokens).toBe(list.usage.prompt_tokens);
    const floats = await client.embeddings.create({ model: EMBED, input, encoding_format: "float" });
    expect(floats.data).toEqual(list.data);
    const id = response.headers.get("x-execution-id") ?? "";
    const { json: receipt } = await tenant.get(`/v1/jobs/${id}/receipt`);
    expect(receipt.receiptId).toBe(receiptIdOf(id));
    const { json: job } = await tenant.get(`/v1/jobs/${id}`);
    expect(job).toMatchObject({ status: "succeeded", capabilityKey: EMBED });
    expect(job.actualCost).toBeGreaterThan(0);
  });

  test("a single text, fewer dimensions and a model's name are accepted", async () => {
    const { data, model } = await client.embeddings.create({
      model: "sandbox/sandbox-2",
      input: "A lighthouse",
      dimensions: 64,
      user: "somebody",
    });
    expect(model).toBe("sandbox/sandbox-2");
    expect(data.map(({ embedding }) => embedding.length)).toEqual([64]);
    expect((await client.models.retrieve(EMBED)).id).toBe(EMBED);
  });

  test("the same Idempotency-Key is the same execution, in either encoding", async () => {
    const headers = { "Idempotency-Key": "vectors" };
    const ask = (encoding_format: "float" | "base64") =>
      client.embeddings.create({ model: EMBED, input: "One", encoding_format }, { headers });
    const first = await ask("float");
    const before = await executions();
    expect(typeof (await ask("base64")).data[0]?.embedding).toBe("string");
    expect(await ask("float")).toEqual(first);
    expect(await executions()).toBe(before);
  });

  test.each([
    [{ input: "" }, "input"],
    [{ input: [] }, "input"],
    [{ input: "x".repeat(100_001) }, "input"],
    [{ input: ["a", "x".repeat(100_001)] }, "input[1]"],
    [{ dimensions: 0 }, "dimensions"],
    [{ encoding_format: "hex" }, "encoding_format"],
    [{ taste: "sweet" }, "taste"],
  ])("a validation error names its field: %#", async (more, param) => {
    const before = await executions();
    const wrong = { model: EMBED, input: "One", ...more } as OpenAI.EmbeddingCreateParams;
    const error = await refusal(client.embeddings.create(wrong));
    expect({ status: error.status, param: error.param }).toEqual({ status: 422, param });
    expect(await executions()).toBe(before);
  });

  test("arrays of tokens are refused with a message that says so", async () => {
    for (const input of [
      [1, 2, 3],
      [[1, 2], [3]],
    ]) {
      const error = await refusal(client.embeddings.create({ model: EMBED, input: input as number[] }));
      expect({ status: error.status, param: error.param }).toEqual({ status: 422, param: "input" });
      expect(error.message).toContain("Arrays of tokens are not supported");
    }
  });

  test("a length that no model supports, a capability of another kind, and an unknown model are refused", async () => {
    const long = refusal(client.embeddings.create({ model: EMBED, input: "One", dimensions: 10_000 }));
    expect(await long).toMatchObject({ status: 409, code: "ROUTE_UNAVAILABLE" });
    const chat = await refusal(client.embeddings.create({ model: "text.general.fast.v1", input: "One" }));
    expect(chat).toMatchObject({ status: 404, param: "model" });
    expect(chat.message).toContain("/v1/chat/completions");
    const unknown = await refusal(client.embeddings.create({ model: "text-embedding-9", input: "One" }));
    expect(unknown.message).toContain("sandbox/sandbox-1");
  });
});

const picture = (name: string, type = "image/png") => toFile(whiteSquare(), name, { type });
const clear = () =>
  sharp({ create: { width: 256, height: 256, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } })
    .png()
    .toBuffer();
const sizeOf = (base64 = "") => {
  const bytes = Buffer.from(base64, "base64");
  expect(bytes.subarray(1, 4).toString()).toBe("PNG");
  return `${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`;
};

describe("images", () => {
  test("images are drawn, awaited and returned as base64", { tags: "long" }, async () => {
    const { data: answer, response } = await client.images
      .generate({ model: "image.generate.v1", prompt: "A kite", n: 2, size: "1536x1024", quality: "high" })
      .withResponse();
    expect(answer.data).toHaveLength(2);
    expect(answer.data?.map(({ b64_json }) => sizeOf(b64_json))).toEqual(["1536x1024", "1536x1024"]);
    expect(answer).toMatchObject({ size: "1536x1024", output_format: "png", background: "opaque" });
    expect(Math.abs(answer.created - Date.now() / 1000)).toBeLessThan(60);
    const { json: job } = await tenant.get(`/v1/jobs/${response.headers.get("x-execution-id")}`);
    expect(job).toMatchObject({ status: "succeeded", capabilityKey: "image.generate.v1" });
  });

  test("images need no model, and are returned as URLs on request", async () => {
    const { data } = await client.images.generate({ prompt: "A kite", response_format: "url" });
    expect(data?.[0]?.url).toMatch(/^data:image\/png;base64,/);
    expect(data?.[0]?.b64_json).toBeUndefined();
  });

  test("images are edited, with a mask or from several pictures", { tags: "long" }, async () => {
    const { data: answer, response } = await client.images
      .edit({
        model: "sandbox/sandbox-1",
        image: await picture("a.png"),
        mask: await toFile(await clear(), "mask.png", { type: "image/png" }),
        prompt: "A red kite",
        n: 2,
        size: "1024x1024",
      })
      .withResponse();
    expect(answer.data).toHaveLength(2);
    const { json: job } = await tenant.get(`/v1/jobs/${response.headers.get("x-execution-id")}`);
    expect(job.capabilityKey).toBe("image.edit.v1");
    const several = await client.images.edit({
      image: await Promise.all([picture("a.png"), picture("b.png", "application/octet-stream")]),
      prompt: "Both",
    });
    expect(several.data).toHaveLength(1);
  });

  test("a mask without an alpha channel is refused at its field", async () => {
    const error = await refusal(
      client.images.edit({ image: await picture("a.png"), mask: await picture("m.png"), prompt: "A kite" }),
    );
    expect(error).toMatchObject({ status: 422, param: expect.stringMatching(/^mask/) });
  });

  test.each([
    [{ n: 5 }, "n"],
    [{ size: "64x64" }, "size"],
    [{ size: "256x256" }, "size"],
    [{ output_format: "jpeg" }, "output_format"],
    [{ style: "vivid" }, "style"],
    [{ stream: true }, "stream"],
    [{ quality: "best" }, "quality"],
    [{ prompt: "" }, "prompt"],
  ])("a validation error names the field of a drawing: %j", async (more, param) => {
    const before = await executions();
    const wrong = { prompt: "A kite", ...more } as OpenAI.ImageGenerateParamsNonStreaming;
    const error = await refusal(client.images.generate(wrong) as Promise<unknown>);
    expect({ status: error.status, param: error.param }).toEqual({ status: 422, param });
    expect(await executions()).toBe(before);
  });

  test.each([
    [{ n: 5 }, "n"],
    [{ input_fidelity: "high" }, "input_fidelity"],
    [{ prompt: undefined }, "prompt"],
    [{ image: [] }, "image"],
  ])("a validation error names the field of an edit: %j", async (more, param) => {
    const wrong = {
      image: await picture("a.png"),
      prompt: "A kite",
      ...more,
    } as OpenAI.ImageEditParamsNonStreaming;
    const error = await refusal(client.images.edit(wrong) as Promise<unknown>);
    expect({ status: error.status, param: error.param }).toEqual({ status: 422, param });
  });

  test("a body that is not a form, or a broken form, is refused", async () => {
    const send = (body: string, type: string) =>
      fetch(`${server.url}/v1/images/edits`, {
        method: "POST",
        headers: { authorization: `Bearer ${tenant.key}`, "content-type": type },
        body,
      });
    expect((await send("{}", "application/json")).status).toBe(415);
    const broken = await send("--x\r\nnothing", "multipart/form-data; boundary=x");
    expect(broken.status).toBe(422);
    expect((await broken.json()).error.code).toBe("InvalidInput");
  });

  test("a failed drawing returns the job's error, with x-should-retry false", async () => {
    const error = await refusal(
      client.images.generate({ model: "sandbox/sandbox-refuse", prompt: "A kite" }),
    );
    expect(error).toMatchObject({ status: 502, code: "ProviderRejected" });
    expect(error.headers?.get("x-should-retry")).toBe("false");
    expect(JSON.stringify(error.error)).toContain("executionId");
  });
});

describe("speech", () => {
  test("speech is returned as a file that plays, MP3 or Opus", { tags: "long" }, async () => {
    const answer = await client.audio.speech.create({
      model: "audio.voice.generate.v1",
      voice: "alloy",
      input: "Welcome aboard.",
      speed: 1.25,
    });
    expect(answer.headers.get("content-type")).toBe("audio/mpeg");
    const decoder = new MPEGDecoder();
    await decoder.ready;
    const { samplesDecoded, errors } = decoder.decode(new Uint8Array(await answer.arrayBuffer()));
    decoder.free();
    expect(samplesDecoded).toBeGreaterThan(1_000);
    expect(errors).toEqual([]);
    const opus = await client.audio.speech.create({
      model: "sandbox/sandbox-1",
      voice: { id: "river" },
      input: "Welcome aboard.",
      response_format: "opus",
    });
    expect(opus.headers.get("content-type")).toBe("audio/ogg");
    expect(
      Buffer.from(await opus.arrayBuffer())
        .subarray(0, 4)
        .toString(),
    ).toBe("OggS");
  });

  test.each([
    [{ response_format: "wav" }, "response_format"],
    [{ speed: 9 }, "speed"],
    [{ instructions: "Whisper." }, "instructions"],
    [{ input: "" }, "input"],
    [{ input: "x".repeat(50_000) }, "input"],
    [{ stream_format: "sse" }, "stream_format"],
  ])("a validation error names its field: %#", async (more, param) => {
    const asked = { model: "audio.voice.generate.v1", voice: "alloy", input: "Hello.", ...more };
    const error = await refusal(client.audio.speech.create(asked as OpenAI.Audio.SpeechCreateParams));
    expect({ status: error.status, param: error.param }).toEqual({ status: 422, param });
  });
});

describe("work that takes longer than a client waits", () => {
  test("an unfinished drawing is a 504 that names the job, and the job continues", {
    tags: "long",
  }, async () => {
    const idle = await makeTenant(); // no worker runs its jobs yet
    setSettings({ JOB_WAIT_SECONDS: 1 });
    const patient = clientOf(idle.key, { maxRetries: 0 });
    const asked = { prompt: "A kite" };
    const headers = { "Idempotency-Key": "later" };
    const collecting = setInterval(collectGarbage, 50); // garbage collection must not remove what ends the wait
    const error = await refusal(patient.images.generate(asked, { headers }));
    clearInterval(collecting);
    expect(error).toMatchObject({ status: 504, code: "JobStillRunning", type: "server_error" });
    expect(error.headers?.get("x-should-retry")).toBe("true");
    const { executionId } = (error.error as { details: { executionId: string } }).details;
    expect(error.message).toContain(executionId);
    expect(await executions(idle.projectId)).toBe(1);
    setSettings({ JOB_WAIT_SECONDS: 60 });
    const stop = workFor(idle.projectId);
    const { data } = await patient.images.generate(asked, { headers });
    await stop();
    expect(data).toHaveLength(1);
    expect(await executions(idle.projectId)).toBe(1);
  });

  test("the same request without a key joins the job: a drawing, and a form with another boundary", {
    tags: "long",
  }, async () => {
    const asks: ((by: OpenAI) => Promise<OpenAI.ImagesResponse>)[] = [
      (by) => by.images.generate({ prompt: "A kite" }),
      async (by) => by.images.edit({ image: await picture("a.png"), prompt: "A kite" }),
    ];
    for (const ask of asks) {
      const idle = await makeTenant();
      setSettings({ JOB_WAIT_SECONDS: 1 });
      expect(await refusal(ask(clientOf(idle.key, { maxRetries: 0 })))).toMatchObject({ status: 504 });
      setSettings({ JOB_WAIT_SECONDS: 60 });
      const stop = workFor(idle.projectId);
      expect((await ask(clientOf(idle.key))).data).toHaveLength(1);
      await stop();
      expect(await executions(idle.projectId)).toBe(1);
    }
  });

  test("the unmodified client retries the 504 and gets the result of one execution", {
    tags: "long",
  }, async () => {
    const idle = await makeTenant();
    setSettings({ JOB_WAIT_SECONDS: 2 });
    const asked = clientOf(idle.key).images.generate({ prompt: "A kite" });
    await vi.waitFor(
      async () => {
        const { rows } = await pool.query("SELECT waiter_state FROM job WHERE project_id = $1", [
          idle.projectId,
        ]);
        expect(rows).toEqual([{ waiter_state: "answered_early" }]);
      },
      { timeout: 10_000 },
    );
    setSettings({ JOB_WAIT_SECONDS: 60 });
    const stop = workFor(idle.projectId);
    expect((await asked).data).toHaveLength(1);
    await stop();
    expect(await executions(idle.projectId)).toBe(1);
  });

  test("a drawing that waits for approval is a 504 that the client does not retry", async () => {
    const careful = await makeTenant();
    await pool.query("UPDATE project SET approval_threshold_micros = 0 WHERE id = $1", [careful.projectId]);
    const error = await refusal(clientOf(careful.key).images.generate({ prompt: "A kite" }));
    expect(error).toMatchObject({ status: 504, code: "JobStillRunning" });
    expect(error.message).toContain("approval");
    expect(error.headers?.get("x-should-retry")).toBe("false");
  });

  test("a key with only the right to run can draw", { tags: "long" }, async () => {
    const key = await makeKey({ projectId: tenant.projectId, scopes: ["capabilities:run"] });
    const { data } = await clientOf(key).images.generate({ prompt: "A kite" });
    expect(data).toHaveLength(1);
  });
});
