import { endpoint, type Given, raw, reply } from "@/server/api/endpoint";
import { projectOf } from "@/server/api/openai/ask";
import { fieldsOf, toEmbeddingList, toInput } from "@/server/api/openai/embeddings";
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
import { drawing, editing, embeddings, type Kind, speech } from "@/server/api/openai/kinds";
import { readModel } from "@/server/api/openai/model";
import { headersOf, headOf, removed } from "@/server/api/openai/result";
import { SPEECH_FIELDS, toSpeechInput } from "@/server/api/openai/speech";
import { OUTPUT_REMOVED } from "@/server/content";
import { OpenAIError } from "@/server/contract/openai";
import {
  EmbeddingList,
  EmbeddingsRequest,
  ImagesEditForm,
  ImagesRequest,
  ImagesResponse,
  SpeechRequest,
} from "@/server/contract/openai-media";
import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";

const MEGABYTE = 1024 * 1024;

const asking = {
  method: "POST",
  tags: ["OpenAI"],
  auth: ["service_principal"],
  scope: "capabilities:run",
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

export const createEmbeddings = endpoint({
  ...asking,
  path: "/v1/embeddings",
  summary: "Embeddings, as OpenAI's clients ask for them",
  description:
    "An invoke of `text.embed.v1` in another spelling. Vectors of different models cannot be compared: name the model.",
  body: EmbeddingsRequest,
  bodyLimit: 32 * MEGABYTE,
  output: EmbeddingList,
  errors: [...REFUSALS, "PayloadUnavailable", ...FAILURES],
  async run(ctx, { body, incoming, idempotencyKey }) {
    const wanted = await readModel(ctx, body.model, embeddings, projectOf(incoming));
    const envelope = toEnvelope(toInput(body), wanted, incoming);
    const result = await inFieldsOf(fieldsOf(body), () =>
      jobs.invoke(ctx, wanted.capability.key, envelope, idempotencyKey),
    );
    const head = headOf(result);
    if (result.warnings.some(({ code }) => code === OUTPUT_REMOVED.code)) throw removed(head);
    return reply(toEmbeddingList(body, result), { headers: headersOf(head) });
  },
});

/** A job of the one capability of a kind, ended well, with what it made. */
async function make(
  ctx: Ctx,
  kind: Kind,
  model: string | null | undefined,
  input: object,
  fields: Fields,
  given: Given,
) {
  const { incoming, idempotencyKey } = given;
  const wanted = await readModel(ctx, model ?? kind.ofAModel, kind, projectOf(incoming));
  const envelope = toEnvelope(input, wanted, incoming);
  const job = await inFieldsOf(fields, () => finished(ctx, wanted.capability.key, envelope, idempotencyKey));
  return { job, files: await filesOf(ctx, job) };
}

export const createImages = endpoint({
  ...waiting,
  path: "/v1/images/generations",
  summary: "Images, as OpenAI's clients ask for them",
  description:
    "A durable job of `image.generate.v1` that is waited for. When it has not ended in time the answer is 504 and names the job, which goes on.",
  body: ImagesRequest,
  output: ImagesResponse,
  async run(ctx, { body, ...given }) {
    const { job, files } = await make(
      ctx,
      drawing,
      body.model,
      toGenerationInput(body),
      GENERATION_FIELDS,
      given,
    );
    return reply(toImagesResponse(body, job, files), { headers: headersOfJob(job) });
  },
});

export const editImages = endpoint({
  ...waiting,
  path: "/v1/images/edits",
  summary: "Edits of images, as OpenAI's clients ask for them",
  description:
    "A durable job of `image.edit.v1` that is waited for, as for generations. The body is a form; of several pictures the first is changed.",
  form: ImagesEditForm,
  bodyLimit: MOST_FORM_BYTES,
  output: ImagesResponse,
  async run(ctx, given) {
    const { fields, files: sent } = await readEditForm(given.incoming);
    // The bytes of a form differ each time it is sent, by its boundary; what it says does not.
    await given.noteBody?.(Buffer.from(JSON.stringify([fields, sent])));
    const { job, files } = await make(
      ctx,
      editing,
      fields.model,
      toEditInput(fields, sent),
      EDIT_FIELDS,
      given,
    );
    return reply(toImagesResponse(fields, job, files), { headers: headersOfJob(job) });
  },
});

export const createSpeech = endpoint({
  ...waiting,
  path: "/v1/audio/speech",
  summary: "Speech, as OpenAI's clients ask for it",
  description:
    "A durable job of `audio.voice.generate.v1` that is waited for, as for images. The answer is the file: MP3, or Opus in Ogg.",
  body: SpeechRequest,
  output: raw("audio/mpeg"),
  also: [raw("audio/ogg")],
  async run(ctx, { body, ...given }) {
    const { job, files } = await make(ctx, speech, body.model, toSpeechInput(body), SPEECH_FIELDS, given);
    const [file] = files;
    if (!file) throw new Error(`job ${job.jobId} succeeded without a file`);
    const length = { "content-length": String(file.bytes.byteLength) };
    const headers = { "content-type": file.mediaType, ...length, ...headersOfJob(job) };
    return { status: 200, headers, body: file.bytes };
  },
});
