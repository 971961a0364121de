import {
  type ImageCall,
  type ImageResult,
  type ModelFacts,
  type NamedFile,
  type PortAdapter,
  ProviderFault,
  type ProviderIo,
  refuseCall,
} from "../define";
import { knownReason } from "../ends";
import { postJson } from "../http";
import { addUsages, inTurn } from "../takes";
import {
  explainGoogleError,
  googleHeaders,
  googleReplyIds,
  isBlocked,
  modelPath,
  parseGenerated,
  toGoogleUsage,
} from "./common";

/* Pictures through generateContent: new ones, with references, or edits of a source. One request makes one picture. */

/** The vendor's sizes at 1K, by aspect ratio; at 2K both edges are twice as long. */
const RATIOS: Record<string, [number, number]> = {
  "1:1": [1024, 1024],
  "2:3": [848, 1264],
  "3:2": [1264, 848],
  "3:4": [896, 1200],
  "4:3": [1200, 896],
  "4:5": [928, 1152],
  "5:4": [1152, 928],
  "9:16": [768, 1376],
  "16:9": [1376, 768],
  "21:9": [1584, 672],
};
const SCALES = { "1K": 1, "2K": 2 } as const;
type Scale = keyof typeof SCALES;
const MAX_BYTES = 96 * 1024 * 1024;

const sizesOf = (scales: Scale[]) =>
  scales.flatMap((imageSize) =>
    Object.entries(RATIOS).map(([aspectRatio, [width, height]]) => ({
      imageSize,
      aspectRatio,
      width: width * SCALES[imageSize],
      height: height * SCALES[imageSize],
    })),
  );

function toImageConfig({ width, height }: ImageCall): { aspectRatio: string; imageSize: string } {
  const size = sizesOf(["1K", "2K"]).find((each) => each.width === width && each.height === height);
  if (size) return { aspectRatio: size.aspectRatio, imageSize: size.imageSize };
  return refuseCall(`Google does not support pictures of ${width} × ${height}.`);
}

const toPart = ({ bytes, mediaType }: NamedFile) => ({
  inlineData: { mimeType: mediaType, data: Buffer.from(bytes).toString("base64") },
});

/** The source comes first, as in the vendor's examples. */
function toRequest(call: ImageCall): Record<string, unknown> {
  const pictures = [...(call.source ? [call.source] : []), ...call.referenceImages];
  return {
    contents: [{ role: "user", parts: [...pictures.map(toPart), { text: call.prompt }] }],
    generationConfig: { responseModalities: ["IMAGE"], imageConfig: toImageConfig(call) },
  };
}

async function submitOne(request: Record<string, unknown>, io: ProviderIo) {
  const reply = await postJson(io, modelPath(io, "generateContent"), {
    body: request,
    headers: googleHeaders(io),
    explain: explainGoogleError,
    maxResponseBytes: MAX_BYTES,
  });
  const answer = parseGenerated(reply, io);
  const candidate = answer.candidates?.[0];
  // A reasoning model marks earlier drafts as thoughts.
  const images = (candidate?.content?.parts ?? []).flatMap(({ inlineData, thought }) =>
    inlineData?.data && !thought
      ? [{ bytes: Buffer.from(inlineData.data, "base64"), mediaType: inlineData.mimeType ?? "image/png" }]
      : [],
  );
  const usage = { ...toGoogleUsage(answer.usageMetadata), images: images.length };
  if (images.length === 0) {
    const isPolicy = isBlocked(answer) || knownReason(candidate?.finishReason ?? "") === "content_filter";
    const { providerRequestId } = googleReplyIds(answer, io);
    throw new ProviderFault(
      isPolicy ? "refused" : "failed",
      "attempted",
      isPolicy ? "Google rejected the prompt under its content policy." : "Google returned no picture.",
      { status: reply.status, usage, ...(providerRequestId ? { providerRequestId } : {}) },
    );
  }
  return {
    state: "done" as const,
    result: { images },
    usage,
    ...googleReplyIds(answer, io),
    httpStatus: reply.status,
  };
}

async function submit(call: ImageCall, io: ProviderIo) {
  const request = toRequest(call);
  const join = (results: ImageResult[]) => ({ images: results.flatMap(({ images }) => images) });
  return inTurn(call.count, () => submitOne(request, io), join, addUsages);
}

/** All sizes cost the same, and the vendor has no quality setting. The price of the prompt's tokens is not included. */
function modelOf(id: string, title: string, scales: Scale[], micros: number): ModelFacts {
  const sizes = sizesOf(scales).map(({ width, height }) => ({ width, height }));
  const largest = Math.max(...sizes.map(({ width, height }) => width * height));
  return {
    id,
    port: "image",
    title,
    price: {
      per: "image",
      sizes: sizes.map((size) => ({
        ...size,
        micros: { low: micros, medium: micros, high: micros, standard: micros, auto: micros },
      })),
    },
    supports: { referenceImages: true, edit: true },
    image: {
      minEdge: Math.min(...sizes.map(({ width, height }) => Math.min(width, height))),
      maxEdge: Math.max(...sizes.map(({ width, height }) => Math.max(width, height))),
      multipleOf: 16,
      minPixels: Math.min(...sizes.map(({ width, height }) => width * height)),
      maxPixels: largest,
      maxAspectRatio: 21 / 9 + 0.05,
      sizes,
    },
  };
}

/*
 * Price of one picture: 1,120 tokens at 1K and 2K, at 30 and 120 US dollars per million (docs/reference/providers.md
 * names the sources).
 */
export const googleImageModels: ModelFacts[] = [
  modelOf("gemini-nano-banana-2.1", "Nano Banana 2.1", ["1K"], 33_600),
  modelOf("gemini-3-pro-image", "Nano Banana Pro", ["1K", "2K"], 134_400),
];

export const googleImage: PortAdapter<"image"> = { api: "generate-content", submit };
