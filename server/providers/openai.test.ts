import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TextCall, Tier } from "./define";
import openai from "./openai";
import { fitsStrictSchema } from "./openai-ports/text";
import { cube, hello } from "./testing/calls";
import { answersItsFixtures, tellsTheTruthAboutSubmission } from "./testing/fixtures";
import { caughtFault, ioFor, startVendor, type Vendor } from "./testing/vendor";

answersItsFixtures(openai, join(import.meta.dirname, "openai.fixtures"), {
  headers: { "content-type": "application/json", "x-client-request-id": "att_01test" },
});
tellsTheTruthAboutSubmission(openai, { port: "text", model: "gpt-5.6-luna", call: hello });
tellsTheTruthAboutSubmission(openai, {
  port: "speech",
  model: "tts-1",
  call: {
    text: "Hello",
    voiceId: "alloy",
    count: 1,
    diverse: true,
    container: "ogg",
  },
});
tellsTheTruthAboutSubmission(openai, { port: "image", model: "gpt-image-1", call: cube });

describe("openai", () => {
  let vendor: Vendor;
  beforeAll(async () => {
    vendor = await startVendor();
  });
  afterAll(() => vendor.stop());
  const submit = (call: TextCall, model = "gpt-5.6-luna") => {
    if (!openai.text) throw new Error("no text port");
    return openai.text.submit(
      call,
      ioFor(openai, model, "text", { baseUrl: vendor.url, credentials: { apiKey: "sk-1" } }),
    );
  };

  test("an account without credit is reported as a refusal, not as a lack of capacity", async () => {
    vendor.answer({
      status: 429,
      json: { error: { code: "insufficient_quota", type: "insufficient_quota" } },
    });
    const fault = await caughtFault(submit(hello));
    expect([fault.kind, fault.submission, fault.message]).toEqual([
      "refused",
      "attempted",
      "The OpenAI account has no credit left. (HTTP 429)",
    ]);
  });

  test.each<[Tier, string | null, Tier | undefined]>([
    ["flex", "flex", "flex"],
    ["flex", "default", "standard"],
    ["flex", null, undefined],
    ["standard", "default", "standard"],
    ["standard", null, undefined],
  ])("a request for %s that is answered with %s ran on %s", async (tier, reported, ran) => {
    vendor.answer({ json: { id: "resp_4", status: "completed", output: [], service_tier: reported } });
    const io = ioFor(openai, "gpt-5.6-luna", "text", {
      baseUrl: vendor.url,
      credentials: { apiKey: "sk-1" },
      tier,
    });
    expect(await openai.text?.submit(hello, io)).toMatchObject({ state: "done" });
    const progress = await openai.text?.submit(hello, io);
    expect(progress?.state === "done" && progress.tier).toBe(ran);
    const sent = JSON.parse(vendor.arrived[0]?.body ?? "{}");
    expect(sent.service_tier).toBe(tier === "flex" ? "flex" : undefined);
    expect("service_tier" in sent).toBe(tier === "flex");
  });

  test("pictures are sent as data URLs in high detail, next to the text", async () => {
    vendor.answer({ json: { id: "resp_5", status: "completed", output: [] } });
    const picture = { type: "image" as const, mediaType: "image/png", bytes: Buffer.from("PNG!") };
    const content = [{ type: "text" as const, text: "What is this?" }, picture];
    await submit({ ...hello, messages: [{ role: "user", content }] }, "gpt-4.1-mini");
    expect(JSON.parse(vendor.arrived[0]?.body ?? "{}").input).toEqual([
      {
        role: "user",
        content: [
          { type: "input_text", text: "What is this?" },
          { type: "input_image", image_url: "data:image/png;base64,UE5HIQ==", detail: "high" },
        ],
      },
    ]);
  });

  test("a failed response keeps its usage", async () => {
    vendor.answer({
      json: {
        id: "resp_3",
        status: "failed",
        output: [],
        usage: { input_tokens: 5, output_tokens: 0 },
        error: { code: "server_error", message: "It broke." },
      },
    });
    const fault = await caughtFault(submit(hello));
    expect([fault.kind, fault.submission]).toEqual(["failed", "attempted"]);
    expect(fault.details).toEqual({
      status: 200,
      usage: { inputTokens: 5, outputTokens: 0 },
      providerRequestId: "resp_3",
      vendor: { code: "server_error", message: "It broke." },
    });
  });

  test.each<[string, Partial<TextCall>, string]>([
    ["a temperature for a model without one", { temperature: 1 }, "gpt-5.6-luna"],
    ["a reasoning intent for a model that does not reason", { reasoningIntent: "deep" }, "gpt-4.1-mini"],
    ["a tool of the vendor's own", { tools: [{ type: "web_search" }] }, "gpt-5.6-luna"],
  ])("%s is refused before anything is sent", async (_case, more, model) => {
    vendor.answer({ json: {} });
    const fault = await caughtFault(submit({ ...hello, ...more }, model));
    expect([fault.kind, fault.submission]).toEqual(["refused", "not_attempted"]);
    expect(vendor.arrived).toEqual([]);
  });

  test("reference images are posted as a form to the edits endpoint", async () => {
    vendor.answer({ json: { data: [{ b64_json: "iVBORw0K" }] } });
    const io = ioFor(openai, "gpt-image-1", "image", {
      baseUrl: vendor.url,
      credentials: { apiKey: "sk-1" },
    });
    const reference = { bytes: Buffer.from("PNG!"), mediaType: "image/png", filename: 'a"\r\nb.png' };
    await openai.image?.submit({ ...cube, referenceImages: [reference, reference] }, io);
    const [sent] = vendor.arrived;
    expect(sent?.path).toBe("/images/edits");
    const form = await new Response(sent?.body, {
      headers: { "content-type": sent?.headers["content-type"] ?? "" },
    }).formData();
    expect(
      form.getAll("image[]").map((file) => (file instanceof File ? [file.name, file.type, file.size] : file)),
    ).toEqual([
      ["a___b.png", "image/png", 4],
      ["a___b.png", "image/png", 4],
    ]);
    form.delete("image[]");
    expect(Object.fromEntries(form)).toEqual({
      model: "gpt-image-1",
      prompt: "A red cube",
      n: "1",
      size: "1024x1024",
      quality: "auto",
      output_format: "png",
    });
  });

  test("the form has the source first, then references, then the mask under its own name", async () => {
    vendor.answer({ json: { data: [{ b64_json: "iVBORw0K" }] } });
    const io = ioFor(openai, "gpt-image-2", "image", {
      baseUrl: vendor.url,
      credentials: { apiKey: "sk-1" },
    });
    const file = (filename: string) => ({ bytes: Buffer.from(filename), mediaType: "image/png", filename });
    const edit = {
      ...cube,
      source: file("source.png"),
      mask: file("mask.png"),
      referenceImages: [file("r.png")],
    };
    const progress = await openai.image?.submit(edit, io);
    expect(progress).toMatchObject({ state: "done", result: { images: [{ mediaType: "image/png" }] } });
    const [sent, ...more] = vendor.arrived;
    expect([sent?.path, more.length]).toEqual(["/images/edits", 0]);
    const form = await new Response(sent?.body, {
      headers: { "content-type": sent?.headers["content-type"] ?? "" },
    }).formData();
    const files = await Promise.all(
      [...form].map(async ([name, value]) => (value instanceof File ? [[name, await value.text()]] : [])),
    );
    expect(files.flat()).toEqual([
      ["image[]", "source.png"],
      ["image[]", "r.png"],
      ["mask", "mask.png"],
    ]);
  });

  const closed = {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
    additionalProperties: false,
  };
  test.each([
    ["closed and all required", closed, true],
    ["nested", { ...closed, properties: { a: { type: "array", items: closed } } }, true],
    ["with definitions", { ...closed, $defs: { b: closed }, properties: { a: { $ref: "#/$defs/b" } } }, true],
    ["open", { ...closed, additionalProperties: true }, false],
    ["with an optional property", { ...closed, required: [] }, false],
    ["with an open object inside", { ...closed, properties: { a: { type: "object" } } }, false],
    ["with a keyword beyond the subset", { ...closed, properties: { a: { not: { type: "null" } } } }, false],
    ["a list at the root", { type: "array", items: closed }, false],
  ])("the strict mode check has the expected result for a schema: %s", (_case, schema, expected) => {
    expect(fitsStrictSchema(schema)).toBe(expected);
  });
});
