import { findPlannedTarget, getCapability } from "@/server/domain/catalog";
import { openContent } from "@/server/domain/content";
import { estimatedUsage, requestSizeOf } from "@/server/domain/executions";
import { priceOf } from "@/server/domain/quotes";
import { eventText, streamFrame } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Micros } from "@/server/platform/money";
import { int4, pick, present, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { readerTextName } from "../following/events";
import { frameName } from "../following/frames";
import { type AttemptRow, type JobRow, tierToAsk } from "../rows";
import { readyAgain } from "../running/stages";

/**
 * Estimated cost of the text that was delivered before its call was lost. If the request was removed, the
 * input counts as the most tokens that the request allows. 0 if no text was delivered, the text was removed,
 * or the model is gone.
 */
export async function deliveredMicros(job: JobRow, attempt: AttemptRow): Promise<Micros> {
  const delivered = await deliveredText(job);
  const { bounds, account } = job.pricing;
  const model = findPlannedTarget(
    getCapability(job.capability_key),
    job.provider,
    job.model,
    account?.model,
  )?.model;
  if (delivered === "" || !model) return 0;
  const ready = await readyAgain(job, attempt);
  const asked = ready && requestSizeOf(ready.call);
  const usage = await estimatedUsage(
    asked?.() ?? { words: "", pictures: [] },
    { text: delivered, reasoning: "", calls: "" },
    {
      model,
      reported: asked ? null : { inputTokens: bounds.inputTokens ?? 0 },
      hiddenOutput: model.hiddenOutput ?? 1,
      mostOutput: bounds.outputTokens,
    },
  );
  return priceOf(model.price, usage, { tier: tierToAsk(job, attempt) }) ?? 0;
}

const listFrames = statement("stream_frame.list", {
  params: { jobId: text },
  row: pick(streamFrame, "id data is_sealed"),
  sql: "SELECT id, data, is_sealed FROM stream_frame WHERE job_id = $jobId ORDER BY id",
});
const listTexts = statement("event_text.list", {
  params: { jobId: text },
  row: {
    sequence: present(int4, "every event of a reader's text has its number"),
    ...pick(eventText, "text is_sealed"),
  },
  sql: `SELECT (event.payload->>'sequence')::int AS sequence, kept.text, kept.is_sealed
    FROM event_text kept JOIN job_event event ON event.job_id = kept.job_id AND event.id = kept.event_id
    WHERE kept.job_id = $jobId AND event.type = 'job.reader_text' ORDER BY kept.event_id`,
});

/**
 * The text of a stream's frames or of a job's reader events, in the order it was written; empty if none is
 * stored.
 */
async function deliveredText({ id, mode }: JobRow): Promise<string> {
  if (mode === "invoke_stream") {
    const frames = await listFrames.all(pool, { jobId: id });
    const pieces = frames.map((row) => openContent({ ...row, id: frameName(id, row.id), content: row.data }));
    return pieces.map((piece) => (JSON.parse(piece ?? '{"text":""}') as { text: string }).text).join(""); // only frames of text are stored
  }
  const texts = await listTexts.all(pool, { jobId: id });
  return texts
    .map((row) => openContent({ ...row, id: readerTextName(id, row.sequence), content: row.text }))
    .join("");
}
