import type { OutputFile } from "@/server/capabilities/define";
import type { Ctx } from "@/server/domain/ctx";
import type { Content, Ending } from "@/server/domain/executions";
import { openSecret, sealSecret } from "@/server/platform/crypto/vault";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import { plainJson } from "@/server/platform/text/json";
import { toAttemptUpdate } from "../ending/ending";
import { expiryOf, type JobRow, type StoredAttention } from "../rows";
import { setAside } from "../transitions/set-aside";

/** A larger answer is not kept in the database; it is lost, and reported so. */
const MOST_BYTES = 64 * 1024 * 1024;

/** What holds an answer that is set aside: the worker of its job. */
export type Held = { job: JobRow; attemptId: string; fence: number };

type KeptFile = Omit<OutputFile, "bytes"> & { base64: string };

/**
 * Keeps an answer that was paid for and cannot be stored as output, sealed, and hands the job to an operator. False: the
 * lease is lost.
 */
export async function setAnswerAside(
  ctx: Ctx,
  held: Held,
  ending: Ending,
  /** Null: it is kept already. */
  content: Content | null,
): Promise<boolean> {
  const { job } = held;
  const now = ctx.now();
  const text = content && toText(content);
  const sealed = sealedAnswer(job, text, now);
  const answerId = text === null ? await keptAnswerId(job.id) : (sealed?.id ?? null);
  return setAside({
    ...asideOf(held, ending, now),
    content: sealed,
    ...waiting({
      reason: "output_not_stored",
      step: STORE_OUTPUT,
      answerId,
      isAnswerKept: answerId !== null,
      now,
    }),
  });
}

/**
 * Keeps such an answer, sealed, while the worker of its job waits to store it again; the next worker goes on from
 * it. Null: it is too large to be kept. False: the lease is lost, or a cancel came meanwhile.
 */
export async function keepAnswerAside(
  ctx: Ctx,
  held: Held,
  { ending, content, leaseMs }: { ending: Ending; content: Content; leaseMs: number },
): Promise<boolean | null> {
  const now = ctx.now();
  const sealed = sealedAnswer(held.job, toText(content), now);
  if (!sealed) return null;
  return setAside({
    ...asideOf(held, ending, now),
    next: { status: "running", leaseMs },
    content: sealed,
    event: { type: "job.retry_scheduled", payload: { step: STORE_OUTPUT, by: "platform" } },
  });
}

const STORE_OUTPUT = "store_output";

/** An answer's text as it is kept; null: there is none, or it is too large. */
function sealedAnswer(job: JobRow, text: string | null, now: Date) {
  if (text === null || text.length > MOST_BYTES) return null;
  const id = newId("payload");
  return {
    id,
    text: sealSecret(text, id),
    isSealed: true,
    sha256: sha256Hex(text),
    byteLength: Buffer.byteLength(text),
    expiresAt: expiryOf(job, now),
  };
}

/** The job and its attempt, with an answer whose content is kept beside it. */
const asideOf = (held: Held, ending: Ending, now: Date) =>
  heldWith(held, { ...ending, isSetAside: true }, now);

const heldWith = ({ job, fence, attemptId }: Held, ending: Ending, now: Date) => ({
  jobId: job.id,
  fence,
  now,
  attempt: toAttemptUpdate(attemptId, ending, now, now),
});

/** The job waits for an operator, because this step kept failing. */
function waiting({
  reason,
  step,
  answerId,
  isAnswerKept,
  now,
}: {
  reason: StoredAttention["reason"];
  step: StoredAttention["step"];
  answerId: string | null;
  isAnswerKept: boolean;
  now: Date;
}) {
  const attention: StoredAttention = { reason, step, since: now.toISOString(), answerId };
  const event = { type: "job.needs_attention", payload: { reason, step, isAnswerKept } };
  return { next: { status: "needs_attention" as const, attention }, event };
}

/**
 * The files of an answer are kept as artifacts, and what is done with them here keeps failing: an operator decides. False:
 * the lease is lost, or a cancel came meanwhile.
 */
export function setWorkAside(ctx: Ctx, held: Held, ending: Ending): Promise<boolean> {
  const now = ctx.now();
  return setAside({
    ...heldWith(held, ending, now),
    content: null,
    ...waiting({
      reason: "output_not_processed",
      step: "process_output",
      answerId: null,
      isAnswerKept: true,
      now,
    }),
  });
}

function toText({ typedOutput, files }: Content): string {
  const kept = files.map(({ bytes, ...file }) => ({
    ...file,
    base64: Buffer.from(bytes).toString("base64"),
  }));
  return canonicalText(plainJson({ typedOutput, files: kept }));
}

async function keptAnswerId(jobId: string): Promise<string | null> {
  const { rows } = await pool.query<{ id: string }>(
    "SELECT id FROM payload WHERE job_id = $1 AND kind = 'answer' AND content IS NOT NULL",
    [jobId],
  );
  return rows[0]?.id ?? null;
}

/** The content that was set aside; null where it was too large, or was pruned. */
export async function findSetAside(jobId: string): Promise<Content | null> {
  const { rows } = await pool.query<{ id: string; content: string }>(
    "SELECT id, content FROM payload WHERE job_id = $1 AND kind = 'answer' AND content IS NOT NULL",
    [jobId],
  );
  const row = rows[0];
  if (!row) return null;
  const kept: { typedOutput: unknown; files: KeptFile[] } = JSON.parse(
    openSecret(row.content, row.id).toString("utf8"),
  );
  return {
    typedOutput: kept.typedOutput,
    files: kept.files.map(({ base64, ...file }) => ({ ...file, bytes: Buffer.from(base64, "base64") })),
  };
}

/** Where it is stored as output now, it need not be kept twice. */
export async function forgetSetAside(jobId: string): Promise<void> {
  await pool.query("UPDATE payload SET content = NULL WHERE job_id = $1 AND kind = 'answer'", [jobId]);
}
