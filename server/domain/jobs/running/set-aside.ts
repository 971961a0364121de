import type { OutputFile } from "@/server/capabilities/define";
import type { Ctx } from "@/server/domain/ctx";
import type { Content, Ending } from "@/server/domain/executions";
import { payload } from "@/server/generated/schema";
import { openSecret, sealSecret } from "@/server/platform/crypto/vault";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { plainJson } from "@/server/platform/text/json";
import { pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { toAttemptUpdate } from "../ending/ending";
import { expiryOf, type JobRow, type StoredAttention } from "../rows";
import { setAside } from "../transitions/set-aside";

/** A larger answer is not kept in the database: it is lost, and the job reports that. */
const MOST_BYTES = 64 * 1024 * 1024;

type KeptFile = Omit<OutputFile, "bytes"> & { base64: string };

/** The step that keeps failing, and the content of its answer; null if the content is kept already. */
export type Aside = { step: StoredAttention["step"]; content: Content | null };

/**
 * Keeps an answer that was paid for and cannot be stored where it belongs; content that is not kept yet is
 * encrypted. The job waits for an operator, or with `leaseMs` for its worker, which continues from the
 * answer. False if the lease is lost or a cancel arrived in the meantime. Null if the answer is too large to
 * keep while it waits for its worker.
 */
export async function keepAside(
  ctx: Ctx,
  { job, attemptId, fence }: { job: JobRow; attemptId: string; fence: number },
  answered: Ending,
  { step, content, leaseMs }: Aside & { leaseMs?: number },
): Promise<boolean | null> {
  const now = ctx.now();
  const isUnstored = step === "store_output";
  const sealed = sealedAnswer(job, content && toText(content), now);
  if (leaseMs !== undefined && !sealed) return null;
  const ending: Ending = isUnstored ? { ...answered, isSetAside: true } : answered;
  const held = { jobId: job.id, fence, now, attempt: toAttemptUpdate(attemptId, ending, now, now) };
  if (leaseMs !== undefined)
    return setAside({
      ...held,
      content: sealed,
      next: { status: "running", leaseMs },
      event: { type: "job.retry_scheduled", payload: { step, by: "platform" } },
    });
  // If only the processing failed, the provider's files are artifacts already.
  const answerId = !isUnstored ? null : content ? (sealed?.id ?? null) : await keptAnswerId(job.id);
  const reason = isUnstored ? "output_not_stored" : "output_not_processed";
  const attention: StoredAttention = { reason, step, since: now.toISOString(), answerId };
  const isAnswerKept = !isUnstored || answerId !== null;
  return setAside({
    ...held,
    content: sealed,
    next: { status: "needs_attention", attention },
    event: { type: "job.needs_attention", payload: { reason, step, isAnswerKept } },
  });
}

/** The text of an answer as it is stored; null if there is none, or if it is too large. */
function sealedAnswer(job: JobRow, answer: string | null, now: Date) {
  if (answer === null || answer.length > MOST_BYTES) return null;
  const id = newId("payload");
  return {
    id,
    text: sealSecret(answer, id),
    isSealed: true,
    sha256: sha256Hex(answer),
    byteLength: Buffer.byteLength(answer),
    expiresAt: expiryOf(job, now),
  };
}

function toText({ typedOutput, files }: Content): string {
  const kept = files.map(({ bytes, ...file }) => ({
    ...file,
    base64: Buffer.from(bytes).toString("base64"),
  }));
  return canonicalText(plainJson({ typedOutput, files: kept }));
}

const findAnswer = statement("payload.find.kept_answer", {
  params: { jobId: text },
  row: pick(payload, "id"),
  sql: "SELECT id FROM payload WHERE job_id = $jobId AND kind = 'answer' AND content IS NOT NULL",
});

async function keptAnswerId(jobId: string): Promise<string | null> {
  const kept = await findAnswer.first(pool, { jobId });
  return kept?.id ?? null;
}

const readAnswer = statement("payload.read.kept_answer", {
  params: { jobId: text },
  row: { id: text, content: text },
  sql: "SELECT id, content FROM payload WHERE job_id = $jobId AND kind = 'answer' AND content IS NOT NULL",
});

/** The content that was set aside; null if it was too large or was pruned. */
export async function findSetAside(jobId: string): Promise<Content | null> {
  const row = await readAnswer.first(pool, { jobId });
  if (!row) return null;
  const kept: { typedOutput: unknown; files: KeptFile[] } = JSON.parse(
    openSecret(row.content, row.id).toString("utf8"),
  );
  return {
    typedOutput: kept.typedOutput,
    files: kept.files.map(({ base64, ...file }) => ({ ...file, bytes: Buffer.from(base64, "base64") })),
  };
}

const clearAnswer = statement("payload.update.cleared_answer", {
  params: { jobId: text },
  sql: "UPDATE payload SET content = NULL WHERE job_id = $jobId AND kind = 'answer'",
});

/** Removes the content that was set aside, because it is stored as output now. */
export const forgetSetAside = (jobId: string): Promise<void> => clearAnswer.run(pool, { jobId });
