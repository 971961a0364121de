import {
  checkPieces,
  type LoraFacts,
  loraFacts,
  SAFETENSORS_LIMITS,
  SafetensorsRefusal,
} from "@/server/compute/safetensors";
import type { ModelAdapter } from "@/server/contract/adapters";
import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import {
  boundaryOf,
  keepFor,
  MOST_AROUND_FILE,
  readFilePart,
  toFilename,
  uploadExpiry,
  withBodyTimeout,
} from "@/server/domain/inputs";
import { inTransaction, pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { env } from "@/server/platform/settings/env";
import { HOUR_MS } from "@/server/platform/time/units";
import { text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { insertAdapter, nameTaken } from "../insert";
import { nameKey } from "../names";
import { type AdapterEnvironment, requireEnvironment } from "../place";
import { refuseAt } from "../rows";
import { described, fileFactsOf, ofStored } from "../sources/sources";
import { uploadForm } from "./form";
import { beginUpload } from "./slots";

/** An upload as received. */
export type WeightsUpload = {
  contentType: string | undefined;
  contentLength: string | undefined;
  bytes: AsyncIterable<Uint8Array> | null;
};

/** Most bytes that an uploaded file may have. */
export const mostUploadBytes = () => Math.min(env.ADAPTER_UPLOAD_MAX_BYTES, SAFETENSORS_LIMITS.fileBytes);

/** Longest time that a body may take; the HTTP server's own limit depends on it. */
export const MOST_UPLOAD_MS = 2 * HOUR_MS;

/**
 * Stores uploaded weights and registers them as one frozen adapter. The file is checked and hashed while it
 * arrives, and never held in memory; a refused, broken or late one leaves nothing behind. A caller without the
 * right, a declared length above the limit, and bad fields or a taken name ahead of the file are refused before
 * the file is read.
 */
export async function upload(
  ctx: Ctx,
  query: { projectId?: string | undefined },
  { contentType, contentLength, bytes }: WeightsUpload,
): Promise<ModelAdapter> {
  const project = await access.authorize(ctx, "adapters:write", { projectId: query.projectId });
  const boundary =
    boundaryOf(contentType) ??
    fail("UnsupportedMediaType", "Send the file and its fields as multipart/form-data.");
  if (Number(contentLength) > mostUploadBytes() + MOST_AROUND_FILE) tooLarge();
  if (!bytes) return refuseAt(["body"], "The multipart body is empty.", "multipart_invalid");

  const finished = beginUpload(project.organizationId);
  try {
    return await receive({ ctx, projectId: project.id, form: uploadForm() }, boundary, bytes);
  } catch (error) {
    if (!(error instanceof SafetensorsRefusal)) throw error;
    if (error.rule === "file_too_large") return tooLarge();
    return refuseAt(["body", "file"], error.message, error.rule);
  } finally {
    finished();
  }
}

type Upload = { ctx: Ctx; projectId: string; form: ReturnType<typeof uploadForm> };

async function receive(
  { ctx, projectId, form }: Upload,
  boundary: string,
  bytes: AsyncIterable<Uint8Array>,
): Promise<ModelAdapter> {
  const patience = { idleMs: env.ADAPTER_UPLOAD_IDLE_MS, wholeMs: MOST_UPLOAD_MS };
  const part = await readFilePart(withBodyTimeout(bytes, patience), boundary, {
    field: form.take,
    async file({ field }) {
      if (field !== "file")
        refuseAt(["body", field ?? "file"], "Only the field `file` can be a file.", "extra_forbidden");
      const { displayName, environment } = form.soFar();
      // Taken names are unknown until the environment arrives.
      const isPlaced = environment !== undefined || ctx.principal.kind === "service_principal";
      if (!isPlaced) return;
      const place = await requireEnvironment(ctx, { projectId, environment }, "adapters:write");
      if (displayName !== undefined) await refuseTaken(place, displayName);
    },
    async end() {
      const { displayName, environment } = form.fields();
      await refuseTaken(
        await requireEnvironment(ctx, { projectId, environment }, "adapters:write"),
        displayName,
      );
    },
  });

  let facts: LoraFacts | undefined;
  const checked = checkPieces(part.bytes, { mostBytes: mostUploadBytes() }, async (header) => {
    facts = await loraFacts(header);
  });
  const kept = await keepFor(ctx, projectId, checked, {
    maxBytes: mostUploadBytes(),
    filename: toFilename(part.filename),
  });
  try {
    if (!facts) throw new Error("The artifact store did not read the file to its end.");
    const { environment, ...said } = form.fields();
    const place = await requireEnvironment(ctx, { projectId, environment }, "adapters:write");
    const source = ofStored(ctx, kept.artifactId, kept.sha256, kept.byteLength);
    const about = described(said, fileFactsOf(facts));
    return await inTransaction(async (client) => {
      await kept.own(client, uploadExpiry(ctx, undefined));
      return (await insertAdapter(ctx, client, place, { described: about, source })) ?? nameTaken();
    });
  } catch (error) {
    await kept.discard();
    throw error;
  }
}

const findNamed = statement("model_adapter.find.name", {
  params: { projectId: text, environment: text, key: text },
  sql: `SELECT FROM model_adapter
    WHERE project_id = $projectId AND environment = $environment AND name_key = $key AND deleted_at IS NULL`,
});

/** Refuses a name that another adapter of the environment already has, before the file is stored. */
async function refuseTaken(
  { projectId, environment }: AdapterEnvironment,
  displayName: string,
): Promise<void> {
  if ((await findNamed.count(pool, { projectId, environment, key: nameKey(displayName) })) > 0) nameTaken();
}

function tooLarge(): never {
  const maxBytes = mostUploadBytes();
  fail("PayloadTooLarge", `The file is larger than the limit of ${maxBytes} bytes.`, { maxBytes });
}
