import { z } from "zod";
import type { Json } from "@/server/platform/durable/step";
import {
  type MeshCall,
  type MeshResult,
  type ModelFacts,
  type Progress,
  type ProviderAccount,
  ProviderFault,
  type ProviderFile,
  type ProviderIo,
  refuseCall,
  toDataUrl,
} from "./define";
import { getFile } from "./get-file";
import { bearer, type Explanation, getJson, parseAnswer, parseReply, postJson, safeWord } from "./http";
import { defineProvider } from "./provider";
import { requireNoFailure } from "./queued-work";
import { vendorWords } from "./vendor-words";

/*
 * Meshy: tasks that make a mesh from one picture or from several of one object. A task is submitted once and polled
 * until it ends.
 */

const ONE = "/openapi/v1/image-to-3d";
const SEVERAL = "/openapi/v1/multi-image-to-3d";
const POLL_MS = 5_000;
const MOST_GLB_BYTES = 64 * 1024 * 1024;
const TEXTURE_PROMPT_CHARACTERS = 600;

const Made = z.object({ result: z.string().min(1) });
const Balance = z.object({ balance: z.number() });
const Handle = z.object({ path: z.enum([ONE, SEVERAL]), id: z.string() });
const Task = z.object({
  id: z.string().nullish(),
  status: z.enum(["PENDING", "IN_PROGRESS", "SUCCEEDED", "FAILED", "CANCELED", "EXPIRED"]),
  progress: z.number().nullish(),
  model_urls: z.object({ glb: z.string().nullish() }).nullish(),
  ai_model: z.string().nullish(),
  task_error: z
    .object({ type: z.string().nullish(), code: z.string().nullish(), message: z.string().nullish() })
    .nullish(),
});
type Task = z.output<typeof Task>;

/** Our texts for the vendor's reasons of a failed task. */
const WHY: Record<string, string> = {
  moderation_blocked: "Meshy rejected the pictures or the prompt under its content policy.",
  image_too_complex: "Meshy found the pictures too complex for a mesh.",
  invalid_input: "Meshy cannot make a mesh from these pictures.",
  timeout: "Meshy did not finish the mesh within its own time limit.",
};

function explain({ status }: { status: number }): Explanation | undefined {
  if (status === 401) return { message: "Meshy does not accept the API key." };
  if (status === 402) return { kind: "refused", message: "The Meshy account has no credits left." };
  if (status === 429) return { message: "The Meshy account has reached its limit of tasks or requests." };
  return undefined;
}

/** Detail of a mesh for each profile; without a remesh it is as fine as the model makes it. */
const BUILDS: Record<MeshCall["profile"], object> = {
  draft_fast: { should_remesh: true, topology: "triangle", target_polycount: 5_000 },
  toy_default: { should_remesh: true, topology: "triangle", target_polycount: 30_000 },
  clean_game_mesh: { should_remesh: true, topology: "quad", target_polycount: 15_000 },
  enhanced_retry: { should_remesh: true, topology: "triangle", target_polycount: 100_000 },
  hero_hd: { should_remesh: false },
};

function toPicture(file: ProviderFile): string {
  const { mediaType } = file;
  if (mediaType !== "image/png" && mediaType !== "image/jpeg")
    refuseCall(`Meshy supports PNG and JPEG pictures, not ${mediaType}.`);
  return toDataUrl(file);
}

const MODES: Record<string, object> = { standard: {}, base_color: {}, pbr: { enable_pbr: true } };

function toTexture(texture: MeshCall["texture"]): object {
  if (!texture) return { should_texture: false };
  const { prompt, image, mode = "standard" } = texture;
  if (prompt && image)
    refuseCall("Meshy uses either a texture prompt or a texture picture. Send one of them.");
  if (prompt && [...prompt].length > TEXTURE_PROMPT_CHARACTERS)
    refuseCall(`Meshy allows texture prompts of at most ${TEXTURE_PROMPT_CHARACTERS} characters.`);
  return {
    should_texture: true,
    ...(MODES[mode] ?? refuseCall(`Meshy supports the texture modes ${Object.keys(MODES).join(", ")}.`)),
    ...(prompt ? { texture_prompt: prompt } : {}),
    ...(image ? { texture_image_url: toPicture(image) } : {}),
  };
}

async function submit(call: MeshCall, io: ProviderIo): Promise<Progress<MeshResult>> {
  const pictures = call.images.map(toPicture);
  const isOne = pictures.length === 1;
  const body = {
    ...(isOne ? { image_url: pictures[0] } : { image_urls: pictures }),
    ai_model: io.model.id,
    ...BUILDS[call.profile],
    ...toTexture(call.texture),
    target_formats: ["glb"],
  };
  const path = isOne ? ONE : SEVERAL;
  const reply = await postJson(io, path, { body, headers: bearer(io), explain });
  const { result: id } = parseAnswer(Made, reply, io, explain);
  return { state: "pending", handle: { path, id }, pollAfterMs: POLL_MS };
}

async function poll(handle: Json, io: ProviderIo): Promise<Progress<MeshResult>> {
  const { path, id } = Handle.parse(handle);
  const reply = await getJson(io, `${path}/${encodeURIComponent(id)}`, {
    headers: bearer(io),
    explain,
  });
  if (!Task.safeParse(reply.body).success) requireNoFailure(reply, io, "Meshy");
  const task = parseReply(Task, reply, io);
  if (task.status === "PENDING" || task.status === "IN_PROGRESS")
    return { state: "pending", handle: { path, id }, pollAfterMs: POLL_MS, progress: progressOf(task) };
  const providerRequestId = safeWord(id, io);
  const details = { status: reply.status, ...(providerRequestId ? { providerRequestId } : {}) };
  if (task.status !== "SUCCEEDED") {
    const vendor = vendorWords({ error: task.task_error }, io);
    throw new ProviderFault("failed", "attempted", whyNot(task), { ...details, vendor });
  }
  const address = task.model_urls?.glb;
  if (!address)
    throw new ProviderFault("failed", "attempted", "Meshy ended the task without a GLB.", details);
  // The file's URL expires after a few days, so the file is downloaded at once.
  const { bytes } = await getFile(address, io, { maxResponseBytes: MOST_GLB_BYTES + 1 });
  return {
    state: "done",
    result: { mesh: { bytes, mediaType: "model/gltf-binary" } },
    usage: { meshes: 1 },
    providerRequestId,
    providerModel: safeWord(task.ai_model, io),
    httpStatus: reply.status,
  };
}

function progressOf({ status, progress }: Task) {
  const percent = typeof progress === "number" ? Math.min(100, Math.max(0, Math.floor(progress))) : undefined;
  return {
    phase: "provider",
    step: status === "PENDING" ? "queued" : "generating",
    ...(percent === undefined ? {} : { percent }),
  };
}

function whyNot({ status, task_error: error }: Task): string {
  if (status === "CANCELED") return "The task was canceled at Meshy.";
  if (status === "EXPIRED") return "The task has expired at Meshy.";
  return WHY[error?.code ?? ""] ?? WHY[error?.type ?? ""] ?? "Meshy failed while working on the mesh.";
}

/** Reads the account's balance; any valid answer means that the key is good. */
async function check(account: ProviderAccount): Promise<void> {
  const reply = await getJson(account, "/openapi/v1/balance", {
    headers: bearer(account),
    explain,
  });
  parseReply(Balance, reply, account);
}

/**
 * One credit in micros, assumed from a plan with 1,000 credits for 20 US dollars a month (docs/reference/providers.md).
 */
const CREDIT = 20_000;
/**
 * Prices in credits by docs.meshy.ai/api/pricing as of August 2026: Meshy 6 costs 20 without a texture and 30 with one,
 * Meshy 5 costs 5 and 15. The number of pictures does not matter.
 */
const priced = (bare: number, textured: number): ModelFacts["price"] => ({
  per: "mesh",
  micros: bare * CREDIT,
  texturedMicros: textured * CREDIT,
});

export default defineProvider({
  name: "meshy",
  title: "Meshy",
  maturity: "PG13",
  credentials: z.object({ apiKey: z.string().min(1) }),
  environment: { credentials: { apiKey: "MESHY_API_KEY" }, baseUrl: "MESHY_BASE_URL" },
  defaultBaseUrl: "https://api.meshy.ai",
  models: [
    { id: "meshy-6", port: "mesh", title: "Meshy 6", price: priced(20, 30), supports: {} },
    { id: "meshy-5", port: "mesh", title: "Meshy 5", price: priced(5, 15), supports: {} },
  ],
  check,
  mesh: { api: "image-to-3d", submit, poll },
});
