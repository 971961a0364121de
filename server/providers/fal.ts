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
import {
  type Explanation,
  getJson,
  type HttpReply,
  parseAnswer,
  parseReply,
  postJson,
  safeWord,
} from "./http";
import { fetchImages, fetchVideo } from "./made-files";
import { defineProvider } from "./provider";
import { failedWork, requireNoFailure } from "./queued-work";

/*
 * fal: models behind a queue. Work is submitted once and polled until it completes; its files are then fetched at once.
 * The queue retries failed work and falls back to other models by default; every submission turns both off.
 */

const POLL_MS = 2_000;

const Taken = z.object({ request_id: z.string().min(1) });
const Status = z.object({
  status: z.enum(["IN_QUEUE", "IN_PROGRESS", "COMPLETED"]),
  queue_position: z.int().nullish(),
  /** The error of completed work that failed. */
  error: z.unknown().optional(),
});
const ImagesReply = z.object({
  images: z.array(z.object({ url: z.string(), content_type: z.string().nullish() })),
  has_nsfw_concepts: z.array(z.boolean()).nullish(),
});
const VideoReply = z.object({ video: z.object({ url: z.string(), content_type: z.string().nullish() }) });
/** The error of work without a result. */
const Problem = z.object({ detail: z.array(z.object({ type: z.string().nullish() })) });

const Handle = z.object({
  id: z.string().regex(/^[\w-]{1,100}$/),
  /** Path of the submission: owner, app and, for some models, a path inside the app. */
  path: z.string().regex(/^[\w-]+\/[\w.-]+(\/[\w.-]+)*$/),
});

function explain({ status, body }: { status: number; body: unknown }): Explanation | undefined {
  if (status === 401) return { message: "fal does not accept the API key." };
  if (status === 403) return { message: "The fal account is locked or cannot use this model." };
  if (status === 402) return { kind: "refused", message: "The fal account has no credit left." };
  if (isAgainstPolicy(body)) return { kind: "refused", message: AGAINST_POLICY };
  return undefined;
}

const AGAINST_POLICY = "fal rejected the request under its content policy.";
function isAgainstPolicy(body: unknown): boolean {
  const problem = Problem.safeParse(body);
  return problem.success && problem.data.detail.some(({ type }) => type === "content_policy_violation");
}

const headers = (io: Pick<ProviderIo, "credentials">) => ({
  authorization: `Key ${io.credentials.apiKey?.reveal() ?? ""}`,
});
/** Turns off the queue's retries and its fallback to other models (docs.fal.ai, "Common parameters"). */
const ONCE = { "x-fal-no-retry": "1", "x-app-fal-disable-fallback": "true" };

async function handIn(path: string, body: object, io: ProviderIo): Promise<Progress<never>> {
  const reply = await postJson(io, `/${path}`, {
    body,
    headers: { ...headers(io), ...ONCE },
    explain,
  });
  const { request_id: id } = parseAnswer(Taken, reply, io, explain);
  return { state: "pending", handle: { id, path }, pollAfterMs: POLL_MS };
}

/** Polls the status of the work; `read` makes its result. */
async function ask<T, R>(
  handle: Json,
  io: ProviderIo,
  {
    schema,
    nothing,
    read,
  }: {
    schema: z.ZodType<T>;
    nothing: Usage;
    read: (answer: T, reply: HttpReply) => Promise<{ result: R; usage: Usage | null }>;
  },
): Promise<Progress<R>> {
  const { id, path } = Handle.parse(handle);
  // Requests belong to the app, not to the paths inside it.
  const place = `/${path.split("/").slice(0, 2).join("/")}/requests/${id}`;
  const asked = await getJson(io, `${place}/status?logs=0`, { headers: headers(io), explain });
  requireNoFailure(asked, io, "fal");
  const status = parseReply(Status, asked, io);
  if (status.status !== "COMPLETED")
    return { state: "pending", handle: { id, path }, pollAfterMs: POLL_MS, progress: progressOf(status) };
  const hasFailed = Boolean(status.error);
  const reply = await getJson(io, place, { headers: headers(io), explain }).catch((fault) => {
    throw endOf(fault, nothing, hasFailed);
  });
  // Completed work does not change, so a result without its files is final.
  if (hasFailed || !schema.safeParse(reply.body).success)
    throw failedWork("fal", hasFailed ? asked : reply, io);
  const { result, usage } = await read(parseReply(schema, reply, io), reply);
  return {
    state: "done",
    result,
    usage,
    providerRequestId: safeWord(id, io),
    providerModel: safeWord(path, io),
    httpStatus: reply.status,
  };
}

function progressOf({ status, queue_position: before }: z.output<typeof Status>): ReportedProgress {
  if (status === "IN_PROGRESS") return { phase: "provider", step: "generating" };
  return { phase: "provider", step: before ? `queued behind ${before}` : "queued" };
}

/**
 * Turns a fault of reading completed work into the outcome of the work. A refusal concerns the work, which then costs
 * nothing, unless it is about the account or the address (401, 402, 403, 404). A failure is final if the work's status
 * reported one.
 */
function endOf(cause: unknown, nothing: Usage, hasFailed: boolean): unknown {
  if (!(cause instanceof ProviderFault)) return cause;
  const { concerns: _, ...details } = cause.details;
  const { status = 0 } = details;
  if (hasFailed && cause.kind === "failed")
    return new ProviderFault("failed", "attempted", cause.message, details);
  const isRefusal = cause.kind === "refused" && ![401, 402, 403, 404].includes(status);
  if (!isRefusal) return cause;
  return new ProviderFault("refused", "attempted", cause.message, { ...cause.details, usage: nothing });
}

// ---- images

function submitImage(call: ImageCall, io: ProviderIo): Promise<Progress<ImageResult>> {
  const { source, adapters = [] } = call;
  requireImageSupport(call, io.model);
  const body = {
    prompt: call.prompt,
    ...(source ? { image_url: toDataUrl(source) } : {}),
    image_size: { width: call.width, height: call.height },
    num_images: call.count,
    ...stepsOf(call),
    ...(adapters.length > 0
      ? { loras: adapters.map(({ url, weight }) => ({ path: url, scale: weight })) }
      : {}),
    output_format: "png",
    enable_safety_checker: true,
  };
  return handIn(source ? `${io.model.id}/image-to-image` : io.model.id, body, io);
}

const pollImage = (handle: Json, io: ProviderIo): Promise<Progress<ImageResult>> =>
  ask(handle, io, {
    schema: ImagesReply,
    nothing: { images: 0 },
    read: async ({ images, has_nsfw_concepts: flags }, { status }) => {
      const usage = { images: images.length };
      const fit = images.filter((_, index) => !flags?.[index]); // a flagged image is only a black picture
      if (images.length > 0 && fit.length === 0)
        throw new ProviderFault("refused", "attempted", "fal's safety checker rejected every picture.", {
          status,
          usage,
        });
      const files = fit.map(({ url, content_type: type = null }) => ({ url, type }));
      return { result: await fetchImages(files, io), usage };
    },
  });

// ---- video

const REFERENCES_SECONDS = 8;

function submitVideo(call: VideoCall, io: ProviderIo): Promise<Progress<VideoResult>> {
  const { referenceImages: references, durationSeconds } = call;
  const { supports } = io.model;
  if (references.length > 0 && !supports.referenceImages)
    refuseCall("This model does not support reference images.");
  if (references.length > 0 && durationSeconds !== REFERENCES_SECONDS)
    refuseCall(`With reference images, this model supports only ${REFERENCES_SECONDS} seconds.`);
  const body = {
    prompt: call.prompt,
    ...(references.length > 0 ? { image_urls: references.map(toDataUrl) } : {}),
    aspect_ratio: call.aspectRatio,
    duration: `${durationSeconds}s`,
    ...(call.resolution ? { resolution: call.resolution } : {}),
    generate_audio: false,
    // Otherwise the vendor rewrites a refused prompt and sends it again.
    auto_fix: false,
  };
  return handIn(references.length > 0 ? `${io.model.id}/reference-to-video` : io.model.id, body, io);
}

/** The vendor reports no length, so it is measured in the file; if that fails, the cost is unknown. */
const pollVideo = (handle: Json, io: ProviderIo): Promise<Progress<VideoResult>> =>
  ask(handle, io, {
    schema: VideoReply,
    nothing: { durationMs: 0 },
    read: ({ video: { url, content_type: type = null } }) => fetchVideo({ url, type }, io),
  });

/**
 * Polls a request that does not exist: the vendor checks the account's rights first, so "not found" (404 or 422) means
 * that the key is good.
 */
async function check(account: ProviderAccount): Promise<void> {
  const unknownId = "00000000-0000-0000-0000-000000000000";
  try {
    await getJson(account, `/fal-ai/flux-lora/requests/${unknownId}/status`, {
      headers: headers(account),
      explain,
    });
  } catch (cause) {
    if (!(cause instanceof ProviderFault && [404, 422].includes(cause.details.status ?? 0))) throw cause;
  }
}

// ---- models; docs/reference/providers.md tells which prices were read on fal.ai itself and which are quoted elsewhere

/** Billed per started megapixel, where 1024 x 1024 pixels are taken for one. */
const SIZES = [
  { width: 1024, height: 1024, megapixels: 1 },
  { width: 1024, height: 768, megapixels: 1 },
  { width: 768, height: 1024, megapixels: 1 },
  { width: 1280, height: 720, megapixels: 1 },
  { width: 720, height: 1280, megapixels: 1 },
  { width: 1536, height: 1024, megapixels: 2 },
  { width: 1024, height: 1536, megapixels: 2 },
];

const perMegapixel = (micros: number) => priceBySize(SIZES, ({ megapixels }) => micros * megapixels);

const DRAWS: NonNullable<ModelFacts["image"]> = {
  minEdge: 720,
  maxEdge: 1536,
  multipleOf: 16,
  minPixels: 1024 * 768,
  maxPixels: 1536 * 1024,
  maxAspectRatio: 16 / 9,
  sizes: SIZES.map(({ width, height }) => ({ width, height })),
};

export default defineProvider({
  name: "fal",
  title: "fal",
  maturity: "PG13",
  credentials: z.object({ apiKey: z.string().min(1).describe("A fal key with the scope API.") }),
  environment: { credentials: { apiKey: "FAL_API_KEY" }, baseUrl: "FAL_BASE_URL" },
  defaultBaseUrl: "https://queue.fal.run",
  models: [
    {
      id: "fal-ai/flux/dev",
      port: "image",
      title: "FLUX.1 [dev]",
      price: perMegapixel(25_000),
      supports: {},
      image: DRAWS,
    },
    {
      id: "fal-ai/flux-lora",
      port: "image",
      title: "FLUX.1 [dev] with LoRA",
      price: perMegapixel(35_000),
      supports: { edit: true, adapters: true },
      families: ["flux"],
      image: DRAWS,
    },
    {
      id: "fal-ai/veo3/fast",
      port: "video",
      title: "Veo 3 Fast",
      price: { per: "second", micros: 100_000 },
      supports: {},
      duration: { minMs: 4_000, maxMs: 8_000 },
      video: { seconds: [4, 6, 8], resolutions: ["720p", "1080p"] },
    },
    {
      id: "fal-ai/veo3.1",
      port: "video",
      title: "Veo 3.1",
      price: { per: "second", micros: 200_000 },
      supports: { referenceImages: true },
      duration: { minMs: 4_000, maxMs: 8_000 },
      video: { seconds: [4, 6, 8], resolutions: ["720p", "1080p"], maxReferenceImages: 3 },
    },
  ],
  check,
  image: { api: "queue", submit: submitImage, poll: pollImage },
  video: { api: "queue", submit: submitVideo, poll: pollVideo },
});
