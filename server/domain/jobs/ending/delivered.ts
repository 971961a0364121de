import { findPlannedTarget, getCapability } from "@/server/domain/catalog";
import { openContent } from "@/server/domain/content";
import { askedOf, estimatedUsage } from "@/server/domain/executions";
import { priceOf } from "@/server/domain/quotes";
import { pool } from "@/server/platform/db";
import type { Micros } from "@/server/platform/money";
import { readerTextName } from "../following/events";
import { frameName } from "../following/frames";
import { type AttemptRow, type JobRow, tierToAsk } from "../rows";
import { readyAgain } from "./ready-again";

/**
 * Estimated cost of the text that was delivered before its call was lost. If the request was removed, the
 * input counts as the most tokens that the request allows. 0 if no text was delivered, the text was removed,
 * or the model is gone.
 */
export async function deliveredMicros(job: JobRow, attempt: AttemptRow): Promise<Micros> {
  const text = await deliveredText(job);
  const { bounds, account } = job.pricing;
  const model = findPlannedTarget(
    getCapability(job.capability_key),
    job.provider,
    job.model,
    account?.model,
  )?.model;
  if (text === "" || !model) return 0;
  const ready = await readyAgain(job, attempt);
  const asked = ready && askedOf(ready.call);
  const usage = await estimatedUsage(
    asked?.() ?? { words: "", pictures: [] },
    { text, reasoning: "", calls: "" },
    {
      model,
      reported: asked ? null : { inputTokens: bounds.inputTokens ?? 0 },
      hiddenOutput: model.hiddenOutput ?? 1,
      mostOutput: bounds.outputTokens,
    },
  );
  return priceOf(model.price, usage, { tier: tierToAsk(job, attempt) }) ?? 0;
}

/**
 * The text of a stream's frames or of a job's reader events, in the order it was written; empty if none is
 * stored.
 */
async function deliveredText({ id, mode }: JobRow): Promise<string> {
  if (mode === "invoke_stream") {
    const { rows } = await pool.query<{ id: number; data: string; is_sealed: boolean }>(
      "SELECT id, data, is_sealed FROM stream_frame WHERE job_id = $1 ORDER BY id",
      [id],
    );
    const pieces = rows.map((row) => openContent({ ...row, id: frameName(id, row.id), content: row.data }));
    return pieces.map((piece) => (JSON.parse(piece ?? '{"text":""}') as { text: string }).text).join(""); // only frames of text are stored
  }
  const { rows } = await pool.query<{ sequence: number; text: string; is_sealed: boolean }>(
    `SELECT (event.payload->>'sequence')::int AS sequence, kept.text, kept.is_sealed
     FROM event_text kept JOIN job_event event ON event.job_id = kept.job_id AND event.id = kept.event_id
     WHERE kept.job_id = $1 AND event.type = 'job.reader_text' ORDER BY kept.event_id`,
    [id],
  );
  return rows
    .map((row) => openContent({ ...row, id: readerTextName(id, row.sequence), content: row.text }))
    .join("");
}
