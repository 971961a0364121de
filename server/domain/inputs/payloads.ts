import type { StoredPayload } from "@/server/contract/inputs-stored";
import { access } from "@/server/domain/access";
import { openContent, sealContent } from "@/server/domain/content";
import type { Ctx } from "@/server/domain/ctx";
import { payload } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { ValidationFault } from "@/server/platform/errors/errors";
import { newId } from "@/server/platform/ids";
import { canonicalInTurns, sha256Hex } from "@/server/platform/text/canonical";
import { LARGE, turn } from "@/server/platform/time/turn";
import { DAY_MS } from "@/server/platform/time/units";
import { pick, present, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/** Lifetime of a stored input. */
const KEPT_MS = 7 * DAY_MS;

const insertPayload = statement("payload.insert", {
  params: {
    payloadId: payload.id,
    projectId: payload.project_id,
    content: payload.content,
    sha256: payload.sha256,
    byteLength: payload.byte_length,
    now: timestamptz,
    expiresAt: timestamptz,
  },
  sql: `INSERT INTO payload (id, project_id, kind, content, is_sealed, sha256, byte_length, created_at, expires_at)
     VALUES ($payloadId, $projectId, 'input', $content, true, $sha256, $byteLength, $now, $expiresAt)`,
});

/**
 * Stores an input that requests can name with `inputPayloadRef`. It is stored as RFC 8785 text, always
 * encrypted; `sha256` is the hash of that text, which is the `inputHash` on the receipt of every execution
 * that uses it.
 */
export async function storePayload(
  ctx: Ctx,
  input: Record<string, Json>,
  projectId: string | undefined,
): Promise<StoredPayload> {
  const project = await access.authorize(ctx, "capabilities:run", { projectId });
  const now = ctx.now();
  const id = newId("payload");
  const content = await canonicalInTurns(input);
  if (content.length > LARGE) await turn();
  const [sha256, byteLength] = [sha256Hex(content), Buffer.byteLength(content)];
  if (content.length > LARGE) await turn();
  const expiresAt = new Date(now.getTime() + KEPT_MS);
  await insertPayload.run(pool, {
    payloadId: id,
    projectId: project.id,
    content: sealContent(content, id),
    sha256,
    byteLength,
    now,
    expiresAt,
  });
  return { payloadId: id, sha256, byteLength, expiresAt: expiresAt.toISOString() };
}

const readPayload = statement("payload.read.input", {
  params: { inputPayloadRef: text, projectId: text, now: timestamptz },
  row: { ...pick(payload, "id is_sealed"), content: present(payload.content, "its condition excludes null") },
  sql: `SELECT id, content, is_sealed FROM payload
      WHERE id = $inputPayloadRef AND project_id = $projectId AND kind = 'input' AND content IS NOT NULL AND expires_at > $now`,
  prepared: true,
});

/**
 * The input of a request: its own, or the stored one that it names. A foreign payload, one of another project
 * or kind, an expired one and an unknown one give the same 422; another 422 means that a stored and an inline
 * input differ.
 */
export async function resolveInput(
  projectId: string,
  request: { input: Record<string, Json>; inputPayloadRef?: string | null | undefined },
  isInline: boolean,
  now: Date,
): Promise<Record<string, Json>> {
  const { input, inputPayloadRef } = request;
  if (!inputPayloadRef) return input;
  const row = await readPayload.first(pool, { inputPayloadRef, projectId, now });
  const content = row ? openContent(row) : null;
  if (content === null) return refuse("There is no such payload, or it has expired.", "not_found");
  if (isInline && (await canonicalInTurns(input)) !== content)
    return refuse("`input` differs from the stored payload. Send one of them.", "value_error");
  return JSON.parse(content);
}

const readHash = statement("payload.read.hash", {
  params: { payloadId: text, projectId: text },
  row: { sha256: payload.sha256 },
  sql: `SELECT sha256 FROM payload WHERE id = $payloadId AND project_id = $projectId AND kind = 'input'`,
});

/** The hash of a stored input, even if the input has expired; null if this project has none of this id. */
export async function storedInputHashOf(projectId: string, payloadId: string): Promise<string | null> {
  const found = await readHash.first(pool, { payloadId, projectId });
  return found?.sha256 ?? null;
}

function refuse(msg: string, type: string): never {
  throw new ValidationFault([{ loc: ["body", "inputPayloadRef"], msg, type }]);
}
