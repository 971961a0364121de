import assert from "node:assert/strict";
import OpenAI, { toFile } from "openai";
import { zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import type { Row } from "../world";

/* The examples of OpenAI's README and guides that apply here; only the model names are ours. */

const MODEL = "text.general.fast.v1";
const VISION = "text.vision.structured.v1";
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const CalendarEvent = z.object({ name: z.string(), date: z.string(), participants: z.array(z.string()) });

export function examples(client: OpenAI): Row["checks"] {
  return {
    async chat() {
      const completion = await client.chat.completions.create({
        model: MODEL,
        messages: [
          { role: "developer", content: "Talk like a pirate." },
          { role: "user", content: "Are semicolons optional in JavaScript?" },
        ],
      });
      assert.match(completion.choices[0]?.message.content ?? "", /semicolons/i);
    },
    async responses() {
      const response = await client.responses.create({
        model: MODEL,
        instructions: "You are a coding assistant that talks like a pirate",
        input: "Are semicolons optional in JavaScript?",
      });
      assert.match(response.output_text, /semicolons/i);
    },
    async "streaming chat"() {
      const stream = await client.chat.completions.create({
        model: MODEL,
        messages: [{ role: "user", content: "Say this is a test" }],
        stream: true,
        stream_options: { include_usage: true },
      });
      let text = "";
      let tokens = 0;
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta?.content ?? "";
        tokens = chunk.usage?.total_tokens ?? tokens;
      }
      assert.ok(text.length > 10 && tokens > 0);
    },
    async "streaming responses"() {
      const stream = await client.responses.create({
        model: MODEL,
        input: "Say 'Sheep sleep deep' ten times fast!",
        stream: true,
      });
      const types = new Set<string>();
      for await (const event of stream) types.add(event.type);
      assert.ok(types.has("response.output_text.delta") && types.has("response.completed"));
    },
    async "run tools"() {
      const runner = client.chat.completions.runTools({
        model: MODEL,
        messages: [{ role: "user", content: "Use getCurrentLocation, then getWeather." }],
        tools: [
          {
            type: "function",
            function: {
              name: "getCurrentLocation",
              description: "Where the user is.",
              function: async () => "Boston",
              parameters: { type: "object", properties: {} },
            },
          },
          {
            type: "function",
            function: {
              name: "getWeather",
              description: "The weather at a place.",
              function: async (_: { location: string }) => "sunny-4001",
              parse: JSON.parse,
              parameters: { type: "object", properties: { location: { type: "string" } } },
            },
          },
        ],
      });
      assert.match((await runner.finalContent()) ?? "", /sunny-4001/);
    },
    async "structured chat"() {
      const completion = await client.chat.completions.parse({
        model: MODEL,
        messages: [
          { role: "system", content: "Extract the event information." },
          { role: "user", content: "Alice and Bob are going to a science fair on Friday." },
        ],
        response_format: zodResponseFormat(CalendarEvent, "event"),
      });
      CalendarEvent.parse(completion.choices[0]?.message.parsed);
    },
    async "structured responses"() {
      const response = await client.responses.parse({
        model: MODEL,
        input: [
          { role: "system", content: "Extract the event information." },
          { role: "user", content: "Alice and Bob are going to a science fair on Friday." },
        ],
        text: { format: zodTextFormat(CalendarEvent, "event") },
      });
      CalendarEvent.parse(response.output_parsed);
    },
    async "vision chat"() {
      const completion = await client.chat.completions.create({
        model: VISION,
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "What is in this image?" },
              { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}` } },
            ],
          },
        ],
      });
      assert.ok(completion.choices[0]?.message.content);
    },
    async "vision responses"() {
      const response = await client.responses.create({
        model: VISION,
        input: [
          {
            role: "user",
            content: [
              { type: "input_text", text: "What is in this image?" },
              { type: "input_image", image_url: `data:image/png;base64,${PIXEL}`, detail: "auto" },
            ],
          },
        ],
      });
      assert.ok(response.output_text);
    },
    async embeddings() {
      const { data, usage } = await client.embeddings.create({
        model: "text.embed.v1",
        input: ["The quick brown fox", "jumped over the lazy dog"],
      });
      assert.equal(data.length, 2);
      assert.deepEqual(
        data.map(({ index }) => index),
        [0, 1],
      );
      assert.ok(data.every(({ embedding }) => embedding.length > 7 && embedding.every(Number.isFinite)));
      assert.ok(usage.prompt_tokens > 0);
    },
    async "images generate"() {
      const { data } = await client.images.generate({
        model: "image.generate.v1",
        prompt: "A cute baby sea otter",
        n: 2,
        size: "1024x1024",
      });
      assert.equal(data?.length, 2);
      for (const { b64_json } of data ?? []) isPng(Buffer.from(b64_json ?? "", "base64"));
    },
    async "images edit"() {
      const made = await client.images.generate({ model: "image.generate.v1", prompt: "A sea otter" });
      const image = Buffer.from(made.data?.[0]?.b64_json ?? "", "base64");
      const { data } = await client.images.edit({
        model: "image.edit.v1",
        image: await toFile(image, "otter.png", { type: "image/png" }),
        prompt: "Add a hat",
      });
      isPng(Buffer.from(data?.[0]?.b64_json ?? "", "base64"));
    },
    async speech() {
      const response = await client.audio.speech.create({
        model: "audio.voice.generate.v1",
        voice: "alloy",
        input: "The quick brown fox jumped over the lazy dog.",
      });
      assert.match(response.headers.get("content-type") ?? "", /^audio\//);
      assert.ok((await response.arrayBuffer()).byteLength > 1_000);
    },
    async models() {
      const ids: string[] = [];
      for await (const { id } of client.models.list()) ids.push(id);
      assert.ok(ids.includes(MODEL) && ids.includes("sandbox/sandbox-1"));
      assert.equal((await client.models.retrieve("sandbox/sandbox-1")).id, "sandbox/sandbox-1");
    },
    async "an unknown model"() {
      const error = await client.chat.completions
        .create({ model: "gpt-4o", messages: [{ role: "user", content: "Hello" }] })
        .catch((cause: unknown) => cause);
      assert.ok(error instanceof OpenAI.APIError);
      assert.equal(error.param, "model");
      assert.match(error.message, /connect/i);
    },
    async "what is not here"() {
      const moderation = client.moderations.create({ input: "Hello" });
      const error = await moderation.catch((cause: unknown) => cause);
      assert.ok(error instanceof OpenAI.APIError);
      assert.doesNotMatch(error.message, /no body/);
    },
  };
}

function isPng(bytes: Buffer) {
  assert.equal(bytes.subarray(1, 4).toString("latin1"), "PNG");
}
