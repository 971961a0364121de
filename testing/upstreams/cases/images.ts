import { bytes, HERE, json, type MadeCase, type MadeExpected, page } from "../made";
import { PICTURE } from "../made-files";

/* Pictures that are returned at once: OpenAI's Images API at 42,000 micros, and Gemini's pictures at 33,600. */

const PRICE = 42_000;
const BASE64 = PICTURE.toString("base64");
const FILE = bytes(PICTURE, "image/png");
const fileOf = (name: string, number = 1) => `${HERE}/files/${name}/${number}.png`;

const made = (files = 1): MadeExpected => ({ files, mediaType: "image/png", cost: files * PRICE });
const FULL: MadeExpected = { fails: "ProviderUnavailable", hold: "released", isSafe: true };
const WAITS = { headers: { "retry-after": "3600" } };
const FAILED: MadeExpected = { fails: "PROVIDER_ERROR", hold: "released" };

const gemini = (parts: object[], members: object = {}, finishReason = "STOP") =>
  json({
    candidates: [{ index: 0, content: { role: "model", parts }, finishReason }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 1_120, totalTokenCount: 1_130 },
    ...members,
  });
const PART = { inlineData: { mimeType: "image/png", data: BASE64 } };

export const IMAGES: readonly MadeCase[] = [
  {
    name: "picture-plain",
    from: ["https://platform.openai.com/docs/api-reference/images"],
    maker: "images",
    plays: { submit: json({ created: 1, data: [{ b64_json: BASE64 }] }) },
    expect: made(),
  },
  {
    name: "picture-with-usage",
    from: ["@ai-sdk/openai 3.0.17"],
    maker: "images",
    plays: {
      submit: json({
        created: 1_733_837_122,
        data: [{ revised_prompt: "A charming visual illustration of a baby sea otter.", b64_json: BASE64 }],
        usage: {
          input_tokens: 12,
          output_tokens: 0,
          total_tokens: 12,
          input_tokens_details: { image_tokens: 7, text_tokens: 5 },
        },
      }),
    },
    expect: made(),
  },
  {
    name: "picture-as-link",
    from: ["use-agent-os/agent-os#2446", "1Panel-dev/MaxKB#4538"],
    maker: "images",
    plays: { submit: json({ created: 1, data: [{ url: fileOf("picture-as-link") }] }), file: FILE },
    expect: made(),
  },
  {
    name: "picture-as-data-url",
    from: ["use-agent-os/agent-os#2570"],
    maker: "images",
    plays: { submit: json({ created: 1, data: [{ url: `data:image/png;base64,${BASE64}` }] }) },
    expect: made(),
  },
  {
    name: "picture-as-data-url-in-base64",
    from: ["openclaw/openclaw#94364"],
    maker: "images",
    plays: {
      submit: json({ created: 1, data: [{ b64_json: `data:image/png;base64,${BASE64}`, url: null }] }),
    },
    expect: made(),
  },
  {
    name: "picture-link-is-a-page",
    from: ["use-agent-os/agent-os#2446"],
    maker: "images",
    plays: { submit: json({ data: [{ url: fileOf("picture-link-is-a-page") }] }), file: page(200) },
    expect: { fails: "PROVIDER_ERROR", cost: PRICE },
  },
  {
    name: "picture-link-is-gone",
    from: ["use-agent-os/agent-os#2446"],
    maker: "images",
    plays: { submit: json({ data: [{ url: fileOf("picture-link-is-gone") }] }), file: page(404) },
    expect: FAILED,
  },
  {
    name: "pictures-too-few",
    from: ["openclaw/openclaw#94364"],
    maker: "images",
    input: { variantCount: 3 },
    plays: { submit: json({ data: [{ b64_json: BASE64 }, { b64_json: null }] }) },
    expect: made(),
  },
  {
    name: "pictures-none",
    from: ["openclaw/openclaw#94364"],
    maker: "images",
    plays: { submit: json({ created: 1, data: [] }) },
    expect: { fails: "PROVIDER_EMPTY_OUTPUT", cost: 0 },
  },
  {
    name: "picture-full-with-200",
    from: ["nodetool-ai/nodetool#5755"],
    maker: "images",
    plays: {
      submit: json({ created: 1, error: { code: "rate_limit_exceeded", message: "Slow down." } }, WAITS),
    },
    expect: { ...FULL, said: { code: "rate_limit_exceeded", message: "Slow down." } },
  },
  {
    name: "picture-error-with-200",
    from: ["maximhq/bifrost#5963"],
    maker: "images",
    plays: { submit: json({ error: { message: "The engine died.", type: "server_error" } }) },
    expect: { ...FAILED, said: { code: "server_error", message: "The engine died." } },
  },
  {
    name: "gemini-picture-plain",
    from: ["https://ai.google.dev/gemini-api/docs/image-generation"],
    maker: "gemini-images",
    plays: { submit: gemini([{ text: "Here it is." }, PART]) },
    expect: { files: 1, mediaType: "image/png", cost: 33_600 },
  },
  {
    name: "gemini-picture-in-words",
    from: ["Nativu5/Gemini-FastAPI#129", "zhiyu1998/Gemi2Api-Server#28"],
    maker: "gemini-images",
    plays: { submit: gemini([{ text: "I drew it." }], {}, "NO_IMAGE") },
    expect: { fails: "PROVIDER_ERROR", cost: 0 },
  },
  {
    name: "gemini-picture-unsafe",
    from: ["OpenSenseNova/SenseNova-Skills#139"],
    maker: "gemini-images",
    plays: { submit: gemini([], {}, "IMAGE_SAFETY") },
    expect: { fails: "ProviderRejected", cost: 0, isSafe: true },
  },
];
