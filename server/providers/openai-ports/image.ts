import { z } from "zod";
import { Count, CountsOf } from "../counts";
import type {
  ImageCall,
  ImageResult,
  ModelFacts,
  NamedFile,
  PortAdapter,
  Price,
  ProviderIo,
} from "../define";
import { type HttpReply, parseAnswer, postBytes, postJson } from "../http";
import { fetchImages } from "../made-files";
import { explainOpenAiError, openAiHeaders, openAiRequestId, toOpenAiUsage } from "./common";

/* Images through the Images API: new ones, or made from given pictures. */

const ImagesReply = z.object({
  data: z.array(z.object({ b64_json: z.string().nullish(), url: z.string().nullish() })),
  output_format: z.string().nullish(),
  usage: CountsOf({ input_tokens: Count, output_tokens: Count }),
});

const MAX_IMAGES_BYTES = 192 * 1024 * 1024;

function toImageFields(call: ImageCall, model: ModelFacts) {
  return {
    model: model.id,
    prompt: call.prompt,
    n: call.count,
    size: `${call.width}x${call.height}`,
    quality: call.quality === "standard" ? "medium" : call.quality,
    output_format: "png",
    ...(call.transparent ? { background: "transparent" } : {}),
  };
}

async function submitImage(call: ImageCall, io: ProviderIo) {
  const fields = toImageFields(call, io.model);
  const options = { explain: explainOpenAiError, maxResponseBytes: MAX_IMAGES_BYTES };
  let reply: HttpReply;
  if (!call.source && call.referenceImages.length === 0) {
    reply = await postJson(io, "/images/generations", {
      body: fields,
      headers: openAiHeaders(io),
      ...options,
    });
  } else {
    const form = toForm(fields, toParts(call), io.attemptId);
    reply = await postBytes(io, "/images/edits", {
      body: form.body,
      mediaType: form.mediaType,
      headers: openAiHeaders(io),
      ...options,
    });
  }
  const answer = parseAnswer(ImagesReply, reply, io, explainOpenAiError);
  const images = (await Promise.all(answer.data.map((each) => toPicture(each, answer, io)))).flat();
  return {
    state: "done" as const,
    result: { images },
    usage: { ...toOpenAiUsage(answer.usage), images: images.length },
    providerRequestId: openAiRequestId(reply, io),
    providerModel: null,
    httpStatus: reply.status,
  };
}

/** A picture in base64, as a data URL in either field, or by its URL. Empty if both fields are missing. */
async function toPicture(
  { b64_json: base64, url }: z.output<typeof ImagesReply>["data"][number],
  { output_format: format }: z.output<typeof ImagesReply>,
  io: ProviderIo,
): Promise<ImageResult["images"]> {
  const given = base64 || url;
  if (!given) return [];
  if (!base64 && /^https?:/i.test(given)) return (await fetchImages([{ url: given }], io)).images;
  const data = /^data:([\w/+.-]*)[^,]*,/.exec(given);
  const bytes = Buffer.from(given.slice(data?.[0].length ?? 0), "base64");
  return [{ bytes, mediaType: data?.[1] || `image/${format ?? "png"}` }];
}

/**
 * The source, if there is one, comes first, because the vendor edits the first picture and applies the mask to it. The
 * others are references.
 */
function toParts({ source, mask, referenceImages }: ImageCall): [name: string, file: NamedFile][] {
  const pictures = [...(source ? [source] : []), ...referenceImages];
  return [
    ...pictures.map((file): [string, NamedFile] => ["image[]", file]),
    ...(mask ? [mask] : []).map((file): [string, NamedFile] => ["mask", file]),
  ];
}

/** A multipart form with files. The attempt id is the boundary, so equal calls send equal bytes. */
function toForm(
  fields: Record<string, string | number>,
  files: [name: string, file: NamedFile][],
  attemptId: string,
) {
  const boundary = `capstan-${attemptId.replace(/[^\w-]/g, "")}-form`;
  const open = (disposition: string) => `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n`;
  const chunks: Uint8Array[] = Object.entries(fields).map(([name, value]) =>
    Buffer.from(`${open(`name="${name}"`)}\r\n${value}\r\n`),
  );
  for (const [name, { bytes, mediaType, filename }] of files) {
    const plain = filename.replace(/["\\\r\n]/g, "_");
    chunks.push(
      Buffer.from(`${open(`name="${name}"; filename="${plain}"`)}content-type: ${mediaType}\r\n\r\n`),
      bytes,
      Buffer.from("\r\n"),
    );
  }
  chunks.push(Buffer.from(`--${boundary}--\r\n`));
  return { body: Buffer.concat(chunks), mediaType: `multipart/form-data; boundary=${boundary}` };
}

/** The published prices of one image model. Both oblong sizes cost the same, and `standard` is sent as medium. */
function imagePrice(square: [number, number, number], oblong: [number, number, number]): Price {
  const toMicros = ([low, medium, high]: [number, number, number]) => ({
    low,
    medium,
    high,
    standard: medium,
  });
  return {
    per: "image",
    sizes: [
      { width: 1024, height: 1024, micros: toMicros(square) },
      { width: 1024, height: 1536, micros: toMicros(oblong) },
      { width: 1536, height: 1024, micros: toMicros(oblong) },
    ],
  };
}

export const openAiImageModels: ModelFacts[] = [
  {
    id: "gpt-image-2",
    port: "image",
    title: "GPT Image 2",
    price: imagePrice([6_000, 53_000, 211_000], [5_000, 41_000, 165_000]),
    supports: { referenceImages: true, edit: true, mask: true },
    image: {
      minEdge: 256,
      maxEdge: 3840,
      multipleOf: 16,
      minPixels: 655_360,
      maxPixels: 8_294_400,
      maxAspectRatio: 3,
    },
  },
  {
    id: "gpt-image-1",
    port: "image",
    title: "GPT Image 1",
    price: imagePrice([11_000, 42_000, 167_000], [16_000, 63_000, 250_000]),
    supports: { transparency: true, referenceImages: true, edit: true, mask: true },
    image: {
      minEdge: 1024,
      maxEdge: 1536,
      multipleOf: 512,
      minPixels: 1024 * 1024,
      maxPixels: 1024 * 1536,
      maxAspectRatio: 1.5,
      sizes: [
        { width: 1024, height: 1024 },
        { width: 1536, height: 1024 },
        { width: 1024, height: 1536 },
      ],
    },
  },
];

export const openAiImage: PortAdapter<"image"> = { api: "images", submit: submitImage };
