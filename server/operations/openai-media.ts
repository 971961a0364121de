import { type RequestContext, raw, reply } from "@/server/api/endpoint";
import { requestedProject } from "@/server/api/openai/ask";
import { embeddingFields, toEmbeddingList, toInput } from "@/server/api/openai/embeddings";
import { toEnvelope } from "@/server/api/openai/envelope";
import { toOpenAIWire } from "@/server/api/openai/errors";
import { type Fields, inFieldsOf } from "@/server/api/openai/fields";
import { filesOf, finished, headersOfJob } from "@/server/api/openai/finished";
import { MOST_FORM_BYTES, readEditForm } from "@/server/api/openai/form";
import {
  EDIT_FIELDS,
  GENERATION_FIELDS,
  toEditInput,
  toGenerationInput,
  toImagesResponse,
} from "@/server/api/openai/images";
import { drawing, editing, embeddings, type ModelKind, speech } from "@/server/api/openai/models/kinds";
import { readModel } from "@/server/api/openai/models/model";
import { removed, responseHead, responseHeaders } from "@/server/api/openai/result";
import { SPEECH_FIELDS, toSpeechInput } from "@/server/api/openai/speech";
import { OpenAIError } from "@/server/contract/openai";
import {
  EmbeddingList,
  EmbeddingsRequest,
  ImagesEditForm,
  ImagesRequest,
  ImagesResponse,
  SpeechRequest,
} from "@/server/contract/openai-media";
import { OUTPUT_REMOVED } from "@/server/domain/content";
import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { byKeys, operations } from "./define";

const openai = operations("OpenAI", byKeys("capabilities:run"));

const MEGABYTE = 1024 * 1024;

const asking = {
  refusals: { toWire: toOpenAIWire, schema: OpenAIError },
  idempotent: true,
} as const;
const REFUSALS = [
  "UNKNOWN_CAPABILITY",
  "PromptTooLong",
  "CONNECTION_REQUIRED",
  "EXTERNAL_ACTIONS_DISABLED",
  "ROUTE_UNAVAILABLE",
  "BudgetExceeded",
  "PROJECT_REQUIRED",
  "InvalidInput",
  "PolicyRejected",
  "funding_required",
  "IdempotencyConflict",
] as const;
const FAILURES = [
  "ProviderRejected",
  "PROVIDER_EMPTY_OUTPUT",
  "PROVIDER_ERROR",
  "ExecutionTimeout",
  "TRANSPORT_AMBIGUOUS",
  "ProviderUnavailable",
  "Cancelled",
] as const;
const waiting = {
  ...asking,
  errors: [...REFUSALS, "DURABLE_CONCURRENCY_LIMIT", "Gone", ...FAILURES, "JobStillRunning"],
} as const;

export const createEmbeddings = openai.post("/v1/embeddings", {
  ...asking,
  summary: "Create embeddings (OpenAI-compatible)",
  description: "Invokes `text.embed.v1`. Vectors of different models cannot be compared, so name the model.",
  body: EmbeddingsRequest,
  example: { model: "text.embed.v1", input: ["How deep is the sea?"] },
  bodyLimit: 32 * MEGABYTE,
  output: EmbeddingList,
  errors: [...REFUSALS, "PayloadUnavailable", ...FAILURES],
  async http(ctx, { body, incoming, idempotencyKey }) {
    const wanted = await readModel(ctx, body.model, embeddings, requestedProject(incoming));
    const envelope = toEnvelope(toInput(body), wanted, incoming);
    const result = await inFieldsOf(embeddingFields(body), () =>
      jobs.invoke(ctx, wanted.capability.key, envelope, { idempotencyHeader: idempotencyKey }),
    );
    const head = responseHead(result);
    if (result.warnings.some(({ code }) => code === OUTPUT_REMOVED.code)) throw removed(head);
    return reply(toEmbeddingList(body, result), { headers: responseHeaders(head) });
  },
});

/** Runs the only capability of a kind as a job, and returns the succeeded job with its artifacts. */
async function make(
  ctx: Ctx,
  kind: ModelKind,
  {
    model,
    input,
    fields,
    given,
  }: { model: string | null | undefined; input: object; fields: Fields; given: RequestContext },
) {
  const { incoming, idempotencyKey } = given;
  const wanted = await readModel(ctx, model ?? kind.ofAModel, kind, requestedProject(incoming));
  const envelope = toEnvelope(input, wanted, incoming);
  const job = await inFieldsOf(fields, () => finished(ctx, wanted.capability.key, envelope, idempotencyKey));
  return { job, files: await filesOf(ctx, job) };
}

export const createImages = openai.post("/v1/images/generations", {
  ...waiting,
  summary: "Create images (OpenAI-compatible)",
  description:
    "Creates a durable job of `image.generate.v1` and waits for it. If the job has not ended in time, the response is 504 with the job's id, and the job continues.",
  body: ImagesRequest,
  example: { model: "image.generate.v1", prompt: "A lighthouse at dusk" },
  output: ImagesResponse,
  async http(ctx, { body, ...given }) {
    const { job, files } = await make(ctx, drawing, {
      model: body.model,
      input: toGenerationInput(body),
      fields: GENERATION_FIELDS,
      given,
    });
    return reply(toImagesResponse(body, job, files), { headers: headersOfJob(job) });
  },
});

export const editImages = openai.post("/v1/images/edits", {
  ...waiting,
  summary: "Edit an image (OpenAI-compatible)",
  description:
    "Creates a durable job of `image.edit.v1` and waits for it, as for image generation. The body is a multipart form; if it has several images, the first one is edited.",
  form: ImagesEditForm,
  bodyLimit: MOST_FORM_BYTES,
  output: ImagesResponse,
  async http(ctx, given) {
    const { fields, files: sent } = await readEditForm(given.incoming);
    // A form's bytes differ on every send because of its boundary, but its fields and files do not.
    await given.noteBody?.(Buffer.from(JSON.stringify([fields, sent])));
    const { job, files } = await make(ctx, editing, {
      model: fields.model,
      input: toEditInput(fields, sent),
      fields: EDIT_FIELDS,
      given,
    });
    return reply(toImagesResponse(fields, job, files), { headers: headersOfJob(job) });
  },
});

export const createSpeech = openai.post("/v1/audio/speech", {
  ...waiting,
  summary: "Create speech (OpenAI-compatible)",
  description:
    "Creates a durable job of `audio.voice.generate.v1` and waits for it, as for image generation. Returns the audio file: MP3, or Opus in Ogg.",
  body: SpeechRequest,
  example: { model: "audio.voice.generate.v1", input: "How deep is the sea?", voice: "alloy" },
  output: raw("audio/mpeg"),
  also: [raw("audio/ogg")],
  async http(ctx, { body, ...given }) {
    const { job, files } = await make(ctx, speech, {
      model: body.model,
      input: toSpeechInput(body),
      fields: SPEECH_FIELDS,
      given,
    });
    const [file] = files;
    if (!file) throw new Error(`job ${job.jobId} succeeded without a file`);
    const length = { "content-length": String(file.bytes.byteLength) };
    const headers = { "content-type": file.mediaType, ...length, ...headersOfJob(job) };
    return { status: 200, headers, body: file.bytes };
  },
});
