import { z } from "zod";
import type { Json } from "@/server/platform/durable/step";
import {
  type ImageCall,
  type ImageResult,
  type ModelFacts,
  type Progress,
  type ProviderAccount,
  ProviderFault,
  type ProviderIo,
  type ReportedProgress,
  refuseCall,
  toDataUrl,
  type Usage,
  type VideoCall,
  type VideoResult,
} from "./define";
import { priceBySize, requireImageSupport, stepsOf } from "./flux";
import { bearer, type Explanation, getJson, parseAnswer, parseReply, postJson, safeWord } from "./http";
import { fetchImages, fetchVideo } from "./made-files";
import { defineProvider } from "./provider";
import { failedWork, requireNoFailure } from "./queued-work";
import { vendorWords } from "./vendor-words";

/*
 * Replicate: predictions of official models, which are always on and billed by output. A prediction is submitted once
 * and polled until it ends.
 */

const POLL_MS = 2_000;

const Made = z.object({ id: z.string().min(1) });
const Handle = z.object({ id: z.string().regex(/^[a-z0-9]{1,64}$/) });
const Prediction = z.object({
  id: z.string(),
  model: z.string().nullish(),
  status: z.enum(["starting", "processing", "succeeded", "failed", "canceled", "aborted"]),
  error: z.unknown().optional(),
  logs: z.string().nullish(),
  /** One URL or a list of them, depending on the model. */
  output: z.unknown().optional(),
});
type Prediction = z.output<typeof Prediction>;
/** Does the body have the documented form, with a state that the vendor documents? */
const isKnown = (body: unknown) => Prediction.safeParse(body).success;
const Addresses = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const Account = z.object({ type: z.string() });

function explain({ status }: { status: number }): Explanation | undefined {
  if (status === 401) return { message: "Replicate does not accept the API token." };
  if (status === 402) return { kind: "refused", message: "The Replicate account has no credit left." };
  return undefined;
}

/** Without `Prefer: wait` the vendor answers immediately, so no connection stays open while it works. */
async function predict(input: object, io: ProviderIo): Promise<Progress<never>> {
  const reply = await postJson(io, `/models/${io.model.id}/predictions`, {
    body: { input },
    headers: bearer(io),
    explain,
  });
  const { id } = parseAnswer(Made, reply, io, explain);
  return { state: "pending", handle: { id }, pollAfterMs: POLL_MS };
}

/** Polls the prediction's status; `read` makes the result from the files it names. */
async function ask<R>(
  handle: Json,
  io: ProviderIo,
  nothing: Usage,
  read: (addresses: string[]) => Promise<{ result: R; usage: Usage | null }>,
): Promise<Progress<R>> {
  const { id } = Handle.parse(handle);
  const reply = await getJson(io, `/predictions/${id}`, { headers: bearer(io), explain });
  if (!isKnown(reply.body)) requireNoFailure(reply, io, "Replicate");
  const prediction = parseReply(Prediction, reply, io);
  const { status } = prediction;
  if (status === "starting" || status === "processing")
    return { state: "pending", handle: { id }, pollAfterMs: POLL_MS, progress: progressOf(prediction) };
  if (status !== "succeeded") throw endOf(prediction, reply.status, nothing, io);
  // A prediction that succeeded does not change, so one without files is final.
  const addresses = Addresses.safeParse(prediction.output);
  if (!addresses.success) throw failedWork("Replicate", reply, io);
  const { result, usage } = await read(addresses.data);
  return {
    state: "done",
    result,
    usage,
    providerRequestId: safeWord(id, io),
    providerModel: safeWord(prediction.model, io),
    httpStatus: reply.status,
  };
}

/** Models draw progress bars in their logs; the last one counts. */
function progressOf({ status, logs }: Prediction): ReportedProgress {
  const last = [...(logs ?? "").matchAll(/(\d{1,3})%\|/g)].at(-1)?.[1];
  const percent = last === undefined ? undefined : Math.min(100, Number(last));
  return {
    phase: "provider",
    step: status === "starting" ? "starting" : "generating",
    ...(percent === undefined ? {} : { percent }),
  };
}

/** The fault of a prediction without a result. */
function endOf(
  { status, error }: Prediction,
  httpStatus: number,
  nothing: Usage,
  io: ProviderIo,
): ProviderFault {
  const vendor = vendorWords({ error }, io);
  const isUnfit = typeof error === "string" && /nsfw|flagged|sensitive|content polic|\bE005\b/i.test(error);
  if (status === "failed" && isUnfit)
    return new ProviderFault("refused", "attempted", "The model's safety check rejected the request.", {
      status: httpStatus,
      usage: nothing, // official models are billed by output
      vendor,
    });
  const message =
    status === "failed" ? "The model failed at Replicate." : "The prediction was canceled at Replicate.";
  return new ProviderFault("failed", "attempted", message, { status: httpStatus, vendor });
}

// ---- images

/** FLUX's size for each shape; docs/reference/providers.md names the source. */
const SHAPES = [
  { shape: "1:1", width: 1024, height: 1024 },
  { shape: "16:9", width: 1344, height: 768 },
  { shape: "9:16", width: 768, height: 1344 },
  { shape: "4:3", width: 1152, height: 896 },
  { shape: "3:4", width: 896, height: 1152 },
  { shape: "3:2", width: 1216, height: 832 },
  { shape: "2:3", width: 832, height: 1216 },
];

function submitImage(call: ImageCall, io: ProviderIo): Promise<Progress<ImageResult>> {
  const { adapters = [], width, height } = call;
  requireImageSupport(call, io.model);
  const most = io.model.mostAdapters ?? 0;
  if (adapters.length > most) refuseCall(`This model supports at most ${most} LoRA weights.`);
  const found = SHAPES.find((each) => each.width === width && each.height === height);
  if (!found) return refuseCall(`This model does not support ${width} x ${height}.`);
  const [first, second] = adapters;
  return predict(
    {
      prompt: call.prompt,
      aspect_ratio: found.shape,
      megapixels: "1",
      num_outputs: call.count,
      ...stepsOf(call),
      ...(first ? { lora_weights: first.url, lora_scale: first.weight } : {}),
      ...(second ? { extra_lora: second.url, extra_lora_scale: second.weight } : {}),
      output_format: "png",
      disable_safety_checker: false,
    },
    io,
  );
}

const pollImage = (handle: Json, io: ProviderIo): Promise<Progress<ImageResult>> =>
  ask(handle, io, { images: 0 }, async (addresses) => {
    const files = addresses.map((url) => ({ url }));
    return { result: await fetchImages(files, io), usage: { images: files.length } };
  });

// ---- video

function submitVideo(call: VideoCall, io: ProviderIo): Promise<Progress<VideoResult>> {
  return predict(
    {
      prompt: call.prompt,
      aspect_ratio: call.aspectRatio,
      duration: call.durationSeconds,
      resolution: call.resolution ?? "720p",
      ...(call.referenceImages.length > 0 ? { reference_images: call.referenceImages.map(toDataUrl) } : {}),
    },
    io,
  );
}

/** The vendor reports no length, so it is measured in the file; if that fails, the cost is unknown. */
const pollVideo = (handle: Json, io: ProviderIo): Promise<Progress<VideoResult>> =>
  ask(handle, io, { durationMs: 0 }, ([url = ""]) => fetchVideo({ url }, io));

/** Reads the token's owner. */
async function check(account: ProviderAccount): Promise<void> {
  parseReply(Account, await getJson(account, "/account", { headers: bearer(account), explain }), account);
}

// ---- models; their prices are quoted from sources other than replicate.com (docs/reference/providers.md)

const perImage = (micros: number) => priceBySize(SHAPES, () => micros);

const DRAWS: NonNullable<ModelFacts["image"]> = {
  minEdge: 768,
  maxEdge: 1344,
  multipleOf: 16,
  minPixels: 1216 * 832,
  maxPixels: 1024 * 1024,
  maxAspectRatio: 16 / 9,
  sizes: SHAPES.map(({ width, height }) => ({ width, height })),
};

export default defineProvider({
  name: "replicate",
  title: "Replicate",
  maturity: "PG13",
  credentials: z.object({ apiKey: z.string().min(1).describe("An API token for a Replicate account.") }),
  environment: { credentials: { apiKey: "REPLICATE_API_TOKEN" }, baseUrl: "REPLICATE_BASE_URL" },
  defaultBaseUrl: "https://api.replicate.com/v1",
  // replicate/cog-flux expects `owner/model/version`.
  adapterReference: (ref, revision) => (ref.endsWith(`/${revision}`) ? ref : `${ref}/${revision}`),
  models: [
    {
      id: "black-forest-labs/flux-dev",
      port: "image",
      title: "FLUX.1 [dev] on Replicate",
      price: perImage(25_000),
      supports: {},
      image: DRAWS,
    },
    {
      id: "black-forest-labs/flux-dev-lora",
      port: "image",
      title: "FLUX.1 [dev] with LoRA on Replicate",
      price: perImage(32_000),
      supports: { adapters: true },
      families: ["flux"],
      mostAdapters: 2,
      image: DRAWS,
    },
    {
      id: "bytedance/seedance-1-lite",
      port: "video",
      title: "Seedance 1 Lite on Replicate",
      // The price at 720p; other resolutions have other prices.
      price: { per: "second", micros: 36_000 },
      supports: { referenceImages: true },
      duration: { minMs: 2_000, maxMs: 8_000 },
      video: { resolutions: ["720p"], maxReferenceImages: 4 },
    },
  ],
  check,
  image: { api: "predictions", submit: submitImage, poll: pollImage },
  video: { api: "predictions", submit: submitVideo, poll: pollVideo },
});
