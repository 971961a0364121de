import { sealContent } from "@/server/domain/content";
import { event, eventText } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { log } from "@/server/platform/log/log";
import { sha256Hex } from "@/server/platform/text/canonical";
import { int4, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { expiryOf, isSealedOf, type JobRow } from "../rows";
import { readerTextName } from "./events";
import { tell } from "./notify";
import { paragraphs } from "./paragraphs";

const STORE_WAITS_MS = [100, 900, 4_000];

type TextReader = {
  /** Takes the next piece of text; whole paragraphs become events of the job. */
  push(text: string): void;
  /** Settles once the whole paragraphs are stored. They stay readable even if the call broke off. */
  settled(): Promise<void>;
  /**
   * Adds the rest and settles once everything is stored. `differs`: the events are not this text or could not
   * be stored, so the rest is not added. `closed`: the job has ended or is being canceled, so nothing is
   * added to it.
   */
  close(whole: string): Promise<"complete" | "differs" | "closed">;
};

type ReadJob = Pick<JobRow, "id" | "data_classification" | "retention_requirement" | "content_kept_ms">;

/**
 * Shows the text of a running job paragraph by paragraph, in order and each once. The event keeps length and
 * hash; the text is content and is stored apart, so that it can be removed.
 */
export function readerOf(job: ReadJob, fence: number, now: () => Date): TextReader {
  const cutter = paragraphs();
  let taken = "";
  let sequence = 0;
  let state: "open" | "failed" | "closed" = "open";
  let last: Promise<void> = Promise.resolve();

  function tellSpan(span: string): void {
    const place = ++sequence;
    last = last.then(async () => {
      if (state === "open") state = await store(job, fence, { sequence: place, text: span, now });
    });
  }

  return {
    push(text) {
      taken += text;
      for (const span of cutter.push(text)) tellSpan(span);
    },
    settled: () => last,
    async close(whole) {
      await last;
      if (state === "open" && taken === whole) {
        const rest = cutter.rest();
        if (rest !== "") tellSpan(rest);
        await last;
      } else if (state === "open") state = "failed";
      return state === "open" ? "complete" : state === "failed" ? "differs" : "closed";
    },
  };
}

const addText = statement("event_text.insert", {
  params: {
    jobId: text,
    fence: int4,
    sequence: int4,
    payload: event.payload,
    at: timestamptz,
    text: eventText.text,
    isSealed: eventText.is_sealed,
    expiresAt: eventText.expires_at,
  },
  // The sequence number finds a write whose answer was lost, so that it is not done again.
  sql: `WITH before AS (
       SELECT id FROM job_event WHERE job_id = $jobId AND type = 'job.reader_text' AND payload->'sequence' = to_jsonb($sequence::int)
     ), moved AS (
       UPDATE job SET last_event = last_event + 1
       WHERE id = $jobId AND fence = $fence AND status = 'running' AND NOT EXISTS (SELECT FROM before)
       RETURNING id, project_id, last_event
     ), added AS (
       INSERT INTO event (project_id, job_id, id, type, payload, created_at)
       SELECT project_id, id, last_event, 'job.reader_text', $payload::jsonb, $at FROM moved
     ), kept AS (
       INSERT INTO event_text (project_id, job_id, event_id, text, is_sealed, expires_at)
       SELECT project_id, id, last_event, $text, $isSealed, $expiresAt FROM moved
     )
     SELECT FROM moved UNION ALL SELECT FROM before`,
});

async function store(
  job: ReadJob,
  fence: number,
  { sequence, text: span, now }: { sequence: number; text: string; now: () => Date },
): Promise<"open" | "failed" | "closed"> {
  const isSealed = isSealedOf(job);
  const payload = {
    sequence,
    boundary: "paragraph",
    provisional: true,
    length: span.length,
    sha256: sha256Hex(span),
  };
  for (const waitMs of [0, ...STORE_WAITS_MS]) {
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    try {
      const at = now();
      const stored = await addText.count(pool, {
        jobId: job.id,
        fence,
        sequence,
        payload,
        at,
        text: isSealed ? sealContent(span, readerTextName(job.id, sequence)) : span,
        isSealed,
        expiresAt: expiryOf(job, at),
      });
      tell([job.id]);
      return stored === 1 ? "open" : "closed";
    } catch (cause) {
      log.warn({ err: cause, jobId: job.id }, "text for a reader could not be stored");
    }
  }
  return "failed";
}
