import { expect } from "vitest";
import { finish, type Tenant } from "@/testing/api";
import { upload } from "@/testing/meshes";
import { workFor } from "@/testing/work";
import { newest, type Seen, saidIn } from "./forms";
import type { MadeCase, Maker } from "./made";
import { PICTURE } from "./made-files";

/* The ways in which a case that returns no text is requested. */

export type SeenMade = Pick<Seen, "executionId" | "status" | "code" | "said"> & {
  vectors: number[][] | null;
  /** The media types of the produced files. */
  files: string[] | null;
};

export type MadeForm = {
  name: string;
  serves: readonly Maker[];
  run(tenant: Tenant, played: MadeCase): Promise<SeenMade>;
};

const EMBEDDERS: Maker[] = ["embeddings", "batch-embeddings"];
const SPEAKERS: Maker[] = ["speech", "elevenlabs"];
const DRAWERS: Maker[] = ["images", "gemini-images", "fal", "replicate"];

/** The only model for embedding cases at a server whose models the caller lists. */
export const EMBEDDER = "embedder";

const ROUTES: Record<Maker, { provider: string; model: string }> = {
  embeddings: { provider: "openai-compatible", model: EMBEDDER },
  "batch-embeddings": { provider: "google", model: "gemini-embedding-001" },
  images: { provider: "openai", model: "gpt-image-1" },
  "gemini-images": { provider: "google", model: "gemini-nano-banana-2.1" },
  speech: { provider: "openai", model: "tts-1" },
  elevenlabs: { provider: "elevenlabs", model: "eleven_multilingual_v2" },
  fal: { provider: "fal", model: "fal-ai/flux/dev" },
  replicate: { provider: "replicate", model: "black-forest-labs/flux-dev" },
  meshy: { provider: "meshy", model: "meshy-6" },
};

/** The text by which the server recognizes a case. */
export const wordsOf = ({ name }: Pick<MadeCase, "name">) => `case ${name} `;

async function inputOf(tenant: Tenant, played: MadeCase): Promise<{ key: string; input: object }> {
  const { maker, input = {} } = played;
  const words = wordsOf(played);
  if (EMBEDDERS.includes(maker))
    return { key: "text.embed.v1", input: { texts: [words, "Water"], ...input } };
  if (SPEAKERS.includes(maker))
    return { key: "audio.voice.generate.v1", input: { text: words, voiceId: "alloy", ...input } };
  if (DRAWERS.includes(maker))
    return {
      key: "image.generate.v1",
      input: { prompt: words, width: 1024, height: 1024, quality: "medium", ...input },
    };
  const inputArtifactIds = [await upload(tenant, PICTURE, "image/png")];
  return { key: "model.generate.3d.v1", input: { inputArtifactIds, meshSettings: { texturePrompt: words } } };
}

const constraintsOf = ({ maker }: MadeCase) => ({
  executionConstraints: { providerPin: ROUTES[maker].provider, preferredModel: ROUTES[maker].model },
});

type Output = {
  vectors?: number[][];
  images?: { mediaType: string }[];
  artifacts?: { mediaType: string }[];
  mesh?: { mediaType: string };
} | null;
function readOutput(output: Output): Pick<SeenMade, "vectors" | "files"> {
  const { vectors = null, images, artifacts = [], mesh } = output ?? {};
  const files = mesh ? [mesh] : (images ?? artifacts);
  return { vectors, files: vectors ? null : files.map(({ mediaType }) => mediaType) };
}
const NOTHING = { code: null, said: null, vectors: null, files: null };

async function invoke(tenant: Tenant, played: MadeCase): Promise<SeenMade> {
  const { key, input } = await inputOf(tenant, played);
  const { status, json } = await tenant.post(`/v1/capabilities/${key}/invoke`, {
    input,
    execution: constraintsOf(played),
  });
  if (status !== 200)
    return {
      ...NOTHING,
      executionId: json.details?.executionId,
      status,
      code: json.code,
      said: saidIn(json.details),
    };
  return { ...NOTHING, executionId: json.executionId, status, ...readOutput(json.typedOutput) };
}

async function job(tenant: Tenant, played: MadeCase): Promise<SeenMade> {
  const { key, input } = await inputOf(tenant, played);
  const { json, text } = await tenant.post(`/v1/capabilities/${key}/jobs`, {
    input,
    execution: constraintsOf(played),
  });
  expect(json.jobId, text).toBeDefined();
  const { error, typedOutput } = await finish(json.jobId);
  return {
    ...NOTHING,
    executionId: json.jobId,
    status: null,
    ...(error ? {} : readOutput(typedOutput as Output)), // the output of one of these capabilities
    code: error?.code ?? null,
    said: saidIn(error?.details as Parameters<typeof saidIn>[0]), // the details of a failure
  };
}

/**
 * Sends a case through OpenAI's endpoints: embeddings are synchronous; pictures and sound are jobs that the endpoint waits for.
 */
async function door(tenant: Tenant, played: MadeCase): Promise<SeenMade> {
  const { provider, model } = ROUTES[played.maker];
  const { input } = await inputOf(tenant, played);
  const given = input as { texts?: string[]; variantCount?: number }; // the input was made above
  const named = { model: `${provider}/${model}` };
  const stop = workFor(tenant.projectId);
  const [path, body] = EMBEDDERS.includes(played.maker)
    ? ["embeddings", { ...named, input: given.texts }]
    : SPEAKERS.includes(played.maker)
      ? ["audio/speech", { ...named, input: wordsOf(played), voice: "alloy", response_format: "opus" }]
      : [
          "images/generations",
          {
            ...named,
            prompt: wordsOf(played),
            size: "1024x1024",
            quality: "medium",
            n: given.variantCount ?? 1,
          },
        ];
  const { status, json, headers } = await tenant.post(`/v1/${path}`, body).finally(stop);
  const executionId = await newest(tenant);
  if (status !== 200)
    return { ...NOTHING, executionId, status, code: json.error.code, said: saidIn(json.error.details) };
  if (path === "audio/speech")
    return { ...NOTHING, executionId, status, files: [headers["content-type"] ?? ""] };
  const data = json.data as { embedding?: number[]; b64_json?: string }[]; // the form that the contract defines
  return path === "embeddings"
    ? { ...NOTHING, executionId, status, vectors: data.map(({ embedding = [] }) => embedding) }
    : { ...NOTHING, executionId, status, files: data.map(() => `image/${json.output_format}`) };
}

export const MADE_FORMS: readonly MadeForm[] = [
  { name: "invoke", serves: EMBEDDERS, run: invoke },
  { name: "job", serves: [...EMBEDDERS, ...SPEAKERS, ...DRAWERS, "meshy"], run: job },
  { name: "door", serves: [...EMBEDDERS, ...SPEAKERS, ...DRAWERS], run: door },
];
