import sharp from "sharp";
import { beforeAll, describe, expect, test } from "vitest";
import { pool } from "@/server/platform/db";
import { serveOwn } from "./own-server.fixture";

/*
 * Pictures for a customer's own server: sent if its connection lists the model as reading them, and limited by their pixels.
 */

const own = serveOwn();
beforeAll(async () => {
  await own.connect({ models: "eyes:1:2:pictures,sharp-eyes:1:2:pictures=700,blind:1:2" });
});

const pictureOf = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: "#fff" } })
    .png()
    .toBuffer();
const COMPLETION = {
  json: {
    choices: [{ index: 0, message: { content: "A square" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 10, completion_tokens: 5 },
  },
};
const sent = () => JSON.parse(own.vendor.arrived[0]?.body ?? "null");
const urlOf = (bytes: Buffer) => `data:image/png;base64,${bytes.toString("base64")}`;
const asked = (url: string, detail?: unknown) => [
  {
    role: "user",
    content: [
      { type: "text", text: "What is it?" },
      { type: "image_url", image_url: { url, ...(detail === undefined ? {} : { detail }) } },
    ],
  },
];
const chat = async (model: string, bytes: Buffer, more: object = {}) =>
  own.tenant.post("/v1/chat/completions", {
    model: `openai-compatible/${model}`,
    messages: asked(urlOf(bytes)),
    ...more,
  });
const maximumOf = async (id: string) =>
  (await pool.query<{ most: number }>("SELECT maximum_micros AS most FROM job WHERE id = $1", [id])).rows[0]!
    .most;

describe("a picture reaches a server whose model reads pictures", () => {
  test("a picture from the chat interface is sent, whole and streamed, with its detail", async () => {
    const url = urlOf(await pictureOf(8, 8));
    for (const [detail, as] of [
      ["low", "low"],
      ["auto", "high"],
    ]) {
      own.vendor.answer(COMPLETION);
      const { status, json, text } = await own.tenant.post("/v1/chat/completions", {
        model: "openai-compatible/eyes",
        messages: asked(url, detail),
      });
      expect(status, text).toBe(200);
      expect(json.choices[0].message.content).toBe("A square");
      expect(sent().messages).toEqual(asked(url, as));
    }
    own.vendor.answer(COMPLETION);
    const streamed = await own.tenant.post("/v1/chat/completions", {
      model: "openai-compatible/eyes",
      messages: asked(url),
      stream: true,
    });
    expect(streamed.text).toContain("A square");
    expect(sent().messages).toEqual(asked(url, "high"));
  });

  test("a picture from the Responses interface and from the native one is sent", async () => {
    const bytes = await pictureOf(8, 8);
    own.vendor.answer(COMPLETION);
    const response = await own.tenant.post("/v1/responses", {
      model: "openai-compatible/eyes",
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "What is it?" },
            { type: "input_image", image_url: urlOf(bytes) },
          ],
        },
      ],
    });
    expect(response.status, response.text).toBe(200);
    expect(sent().messages).toEqual(asked(urlOf(bytes), "high"));
    own.vendor.answer({
      json: {
        choices: [{ index: 0, message: { content: '{"shape":"square"}' }, finish_reason: "stop" }],
        usage: { prompt_tokens: 10, completion_tokens: 5 },
      },
    });
    const content = [
      { type: "text", text: "What is it?" },
      { type: "image", mediaType: "image/png", data: bytes.toString("base64") },
    ];
    const invoke = await own.tenant.post("/v1/capabilities/text.vision.structured.v1/invoke", {
      input: { messages: [{ role: "user", content }] },
      execution: { executionConstraints: { preferredModel: "openai-compatible/eyes" } },
    });
    expect(invoke.status, invoke.text).toBe(200);
    expect(sent().messages).toEqual(asked(urlOf(bytes), "high"));
  });

  test("a picture is sent beside a system message, and the record shows the words", async () => {
    own.vendor.answer(COMPLETION);
    const url = urlOf(await pictureOf(8, 8));
    const { json } = await own.tenant.post("/v1/chat/completions", {
      model: "openai-compatible/eyes",
      messages: [{ role: "system", content: "Be short." }, ...asked(url)],
    });
    expect(sent().messages).toEqual([{ role: "system", content: "Be short." }, ...asked(url, "high")]);
    const { request } = (await own.tenant.get(`/v1/jobs/${json.id}/request`)).json;
    expect(request.input.messages[1]).toEqual({ role: "user", content: "What is it?" });
  });

  test("the bound of a picture follows from its pixels, or is the owner's figure", async () => {
    own.vendor.answer(COMPLETION);
    const most = async (model: string, width: number, height: number) =>
      maximumOf((await chat(model, await pictureOf(width, height))).json.id);
    const small = await most("eyes", 8, 8);
    expect((await most("eyes", 3_000, 1_000)) - small).toBe(11_844 - 8_192);
    expect((await most("sharp-eyes", 2_000, 1_000)) - small).toBe(700 - 8_192);
  });
});

test("a picture is refused for a model that is not listed as reading pictures, and the error names the form that lists it", async () => {
  own.vendor.answer(COMPLETION);
  const bytes = await pictureOf(8, 8);
  const { status, json } = await chat("blind", bytes);
  expect([status, json.error.param]).toEqual([422, "messages"]);
  expect(json.error.message).toContain("openai-compatible/blind does not support pictures.");
  expect(json.error.message).toContain("id:in:out:pictures");
  expect(own.vendor.arrived).toEqual([]);
});

test("a picture that is not a file of its type, is not data or has an unknown detail is refused", async () => {
  own.vendor.answer(COMPLETION);
  const ask = async (url: unknown, detail?: unknown) => {
    const messages = [{ role: "system", content: "Hi" }, ...asked(url as string, detail)]; // a value of any type
    const { status, json } = await own.tenant.post("/v1/chat/completions", {
      model: "openai-compatible/eyes",
      messages,
    });
    return [status, json.error?.param];
  };
  const data = (await pictureOf(8, 8)).toString("base64");
  const good = `data:image/png;base64,${data}`;
  for (const url of [
    `data:image/webp;base64,${data}`,
    "data:image/png;base64,???",
    "data:image/gif;base64,R0lGODlh",
  ])
    expect(await ask(url)).toEqual([422, "messages[1].content[1].data"]);
  for (const url of ["https://example.com/a.png", "", "data:image/png;base64,"])
    expect(await ask(url)).toEqual([422, "messages[1].content[1]"]);
  for (const detail of ["", "original", 1, ["low"]]) expect((await ask(good, detail))[0]).toBe(422);
  for (const url of [1, null, [good]]) expect((await ask(url))[0]).toBe(422);
  expect(own.vendor.arrived).toEqual([]);
});

test("texts in parts are joined as lines: one text with these lines is the same request", async () => {
  own.vendor.answer(COMPLETION);
  const headers = { "idempotency-key": "lines" };
  const ask = (content: unknown) =>
    own.tenant.post(
      "/v1/chat/completions",
      { model: "openai-compatible/eyes", messages: [{ role: "user", content }] },
      { headers },
    );
  const first = await ask("One\nTwo");
  const again = await ask([
    { type: "text", text: "One" },
    { type: "text", text: "Two" },
  ]);
  expect(first.status, first.text).toBe(200);
  expect(again.json.id).toBe(first.json.id);
  expect(sent().messages).toEqual([{ role: "user", content: "One\nTwo" }]);
});

test.each(["m:1:2:picture", "m:1:2:pictures=0", "m:1:embeddings:pictures"])(
  "a connection with the model %s is refused with the allowed forms",
  async (models) => {
    await expect(own.connect({ models, label: "wrong" })).rejects.toMatchObject({
      issues: [{ loc: ["body", "models"], msg: expect.stringContaining("id:in:out:pictures") }],
    });
  },
);
