import type { FRAME_EVENTS } from "@/server/contract/enums";
import { TERMINAL } from "@/server/contract/jobs";
import { readHold } from "@/server/domain/budgets";
import { openContent, sealContent } from "@/server/domain/content";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { visibleProviderMessage } from "@/server/domain/executions";
import { job, streamFrame } from "@/server/generated/schema";
import { writtenTogether } from "@/server/platform/batch";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { fail } from "@/server/platform/errors/errors";
import { receiptIdOf } from "@/server/platform/ids";
import { log } from "@/server/platform/log/log";
import { microsToUsd } from "@/server/platform/money";
import type { OnText } from "@/server/providers/define";
import {
  beside,
  bool,
  column,
  int4,
  int8,
  jsonb,
  maybe,
  names,
  namesBeside,
  type Of,
  pick,
  text,
  texts,
  timestamptz,
} from "@/server/sql/column";
import { batch, statement } from "@/server/sql/statement";
import { keptSaid } from "../ending/provider-said";
import { toError } from "../reading/hints";
import { chargeOfJob } from "../reading/view";
import {
  type AttemptRow,
  expiryOf,
  findJob,
  isSealedOf,
  type JobRow,
  lastAttemptOf,
  parseContent,
  payloadsOf,
} from "../rows";
import { readJob } from "../running/work";
import { ofJob } from "../transitions/moves";
import { followPages, type Pace, resumeAfter } from "./follow";
import { PAGE_SIZE, type Page, type ReadPages } from "./hub";
import { framesTopic, tell } from "./notify";

/*
 * The frames of a streaming invoke. Only text is stored as it arrives; the first frame and the last ones are
 * views of the execution's own rows, so the terminal frame always agrees with the sealed record, no matter
 * which process ended the execution. Id 1 is the start; one id per piece of text follows, then usage and end.
 * No id is ever given to two frames: text is stored only while the execution runs and under a lock that its
 * end waits for, and the job keeps the last id of removed text.
 */

export type JobFrame = { id: number; event: (typeof FRAME_EVENTS)[number]; data: Record<string, unknown> };
type Piece = { id: number; data: string };

const FIRST_PIECE = 2;
const GATHER_MS = 25;
const STORE_WAITS_MS = [100, 900, 4_000];

const WRITE = {
  jobId: text,
  fence: int4,
  now: timestamptz,
  expiresAt: maybe(timestamptz),
  isSealed: bool,
  pieces: jsonb<Piece[]>(),
};
const writeAll = batch("write-frames", {
  input: WRITE,
  row: { id: text },
  sql: `WITH input AS $input, running AS MATERIALIZED (
  SELECT job.id, job.project_id, input.* FROM job JOIN input ON job.id = input."jobId" AND job.fence = input.fence
  WHERE job.status IN ('running', 'canceling') ORDER BY job.id FOR SHARE OF job
), wrote AS (
  INSERT INTO stream_frame (project_id, job_id, id, event, data, is_sealed, created_at, expires_at)
  SELECT project_id, running.id, piece.id, 'token', piece.data, "isSealed", now, "expiresAt"
  FROM running, jsonb_to_recordset(pieces) AS piece(id int, data text)
  ON CONFLICT (job_id, id) DO NOTHING
)
SELECT id FROM running`,
});

/**
 * Stores pieces of text; false if the execution has ended or has another fence. Streams that run at the same
 * time share statements.
 */
const write = writtenTogether<Of<typeof WRITE>>(ofJob, (items) => writeAll.all(pool, items));

/** A sealed frame is bound to this name. */
export const frameName = (jobId: string, id: number) => `${jobId}/frames/${id}`;

type FrameWriter = {
  /** Takes the next piece of text, which is stored with the others of the same 25 ms. */
  push: OnText;
  /** Settles once all text that was taken is stored or can no longer be stored. */
  flush(): Promise<void>;
};

/** Stores the text of a streaming execution as it arrives, before any reader gets it. */
export function frameWriter(
  job: Pick<JobRow, "id" | "data_classification" | "retention_requirement" | "content_kept_ms">,
  fence: number,
  now: () => Date,
): FrameWriter {
  const isSealed = isSealedOf(job);
  let waiting: Piece[] = [];
  let next = FIRST_PIECE;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> | null = null;
  let failures = 0;
  let isClosed = false;

  async function writeWaiting(): Promise<void> {
    const pieces = waiting;
    waiting = [];
    const at = now();
    const expiresAt = expiryOf(job, at);
    try {
      if (await write({ jobId: job.id, fence, now: at, expiresAt, isSealed, pieces }))
        tell([framesTopic(job.id)]);
      else isClosed = true; // the execution has ended or has another fence, so nothing is added
      failures = 0;
    } catch (cause) {
      log.warn({ err: cause, jobId: job.id }, "streamed text could not be stored");
      waiting = [...pieces, ...waiting]; // in order and with the same ids, so a second write changes nothing
      await new Promise((resolve) => setTimeout(resolve, STORE_WAITS_MS[failures] ?? 0));
      if (++failures > STORE_WAITS_MS.length) isClosed = true;
    }
    if (isClosed) waiting = [];
  }

  /** Runs one write at a time; text that arrives during a write joins the next one. */
  function start(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing ??= (async () => {
      while (waiting.length > 0) await writeWaiting();
      writing = null;
    })();
    return writing;
  }

  return {
    push(text, kind) {
      if (isClosed || text === "") return;
      const id = next++;
      const refusal = kind === "refusal" ? { refusal: true } : {};
      const data = JSON.stringify({ index: id - FIRST_PIECE, text, ...refusal });
      waiting.push({ id, data: isSealed ? sealContent(data, frameName(job.id, id)) : data });
      if (!writing) timer ??= setTimeout(() => void start(), GATHER_MS);
    },
    flush: () => start(),
  };
}

const FOLLOWED = pick(job, "id", "status", "capability_key", "started_at", "created_at");
const STORED = pick(streamFrame, "id", "event", "data", "is_sealed");
const following = statement("follow-frames", {
  params: { jobIds: texts, after: column<number[]>("int4[]"), ended: column<readonly string[]>("text[]") },
  row: { place: int8, ...FOLLOWED, ...beside("frame_", STORED), last: maybe(int4) },
  prepared: true,
  sql: `SELECT asked.place, ${names(FOLLOWED, "job")}, ${namesBeside("frame_", STORED, "page")},
    CASE WHEN job.status = ANY($ended) THEN
      greatest(job.last_frame, (SELECT max(id) FROM stream_frame stored WHERE stored.job_id = job.id)) END AS last
  FROM unnest($jobIds::text[], $after::int[]) WITH ORDINALITY AS asked(job_id, after, place)
  JOIN job ON job.id = asked.job_id
  LEFT JOIN LATERAL (SELECT ${names(STORED)} FROM stream_frame stored
    WHERE stored.job_id = asked.job_id AND stored.id > asked.after ORDER BY id LIMIT ${PAGE_SIZE}) page ON true
  ORDER BY asked.place, page.id`,
});

/**
 * The next frames of many executions: one statement reads the stored text, and the start and the end follow
 * from the rows.
 */
const readNext: ReadPages<JobFrame> = async (asks) => {
  const rows = await following.all(pool, {
    jobIds: asks.map(({ jobId }) => jobId),
    after: asks.map(({ after }) => after),
    ended: TERMINAL,
  });
  const found = asks.map(() => [] as typeof rows);
  for (const row of rows) found[row.place - 1]!.push(row);
  return Promise.all(
    asks.map(async ({ after }, position) => {
      const [job] = found[position]!;
      if (!job) return { items: [], hasEnded: true };
      const stored = found[position]!.filter(({ frame_id }) => frame_id !== null);
      const items: JobFrame[] = after < 1 ? [startOf(job)] : [];
      for (const { frame_id, frame_event, frame_data, frame_is_sealed } of stored) {
        // Null only if there is no frame; `token` is the only stored event.
        const name = frameName(job.id, frame_id!);
        const text = openContent({ id: name, content: frame_data!, is_sealed: frame_is_sealed! });
        items.push({ id: frame_id!, event: frame_event as "token", data: JSON.parse(text!) });
      }
      const hasEnded = TERMINAL.includes(job.status) && stored.length < PAGE_SIZE;
      if (hasEnded) items.push(...(await endOf(job.id, job.last ?? 1)).filter(({ id }) => id > after));
      return { items, hasEnded };
    }),
  );
};

function startOf(job: Pick<JobRow, "id" | "capability_key" | "started_at" | "created_at">): JobFrame {
  const startedAt = (job.started_at ?? job.created_at).toISOString();
  return {
    id: 1,
    event: "execution.started",
    data: { executionId: job.id, capabilityKey: job.capability_key, startedAt },
  };
}

/** The usage and end frames of an ended execution, from its rows. */
async function endOf(jobId: string, lastId: number): Promise<JobFrame[]> {
  const job = await readJob(jobId);
  if (!job) throw new Error(`the execution ${jobId} that was just read does not exist`);
  const [attempt, payloads, hold] = await Promise.all([
    lastAttemptOf(job),
    payloadsOf(job),
    readHold(job.id),
  ]);
  const usage = usageOf(job, attempt);
  const charge = chargeOfJob(job, hold);
  const receiptId = receiptIdOf(job.id);
  const frames: JobFrame[] = usage ? [{ id: lastId + 1, event: "usage", data: usage }] : [];
  const typedOutput = parseContent(payloads.find((payload) => payload.kind === "output"));
  frames.push({
    id: lastId + frames.length + 1,
    ...(job.status === "succeeded"
      ? {
          event: "execution.succeeded",
          data: {
            executionId: job.id,
            typedOutput,
            usage,
            charge,
            terminationReason: attempt?.answer?.finishReason ?? "completed",
            receiptId,
          },
        }
      : {
          event: "execution.failed",
          data: {
            executionId: job.id,
            error: toError(job, attempt, visibleProviderMessage(job, keptSaid(payloads))),
            usage,
            charge,
            receiptId,
          },
        }),
  });
  return frames;
}

/** The usage that the provider reported; null if it reported none. */
function usageOf(job: JobRow, attempt: AttemptRow | null): Record<string, Json> | null {
  if (!attempt?.usage) return null;
  return {
    inputTokens: attempt.usage.inputTokens ?? null,
    outputTokens: attempt.usage.outputTokens ?? null,
    estimatedCost: microsToUsd(job.pricing.expectedUpstreamMicros),
    actualCost: job.actual_micros === null ? null : microsToUsd(job.actual_micros),
    providerCostEstimatedMicros: job.pricing.expectedUpstreamMicros,
    providerCostMicros: job.actual_micros,
    currency: "USD",
  };
}

const lastText = statement("last-frame", {
  params: { jobId: text },
  row: { status: job.status, last: int4 },
  sql: `SELECT status, greatest(1, last_frame, (SELECT max(id) FROM stream_frame stored WHERE stored.job_id = job.id)) AS last
  FROM job WHERE id = $jobId`,
});

/**
 * The id after which the frames of an execution resume. The first frame exists from admission on, and a text
 * frame is stored before it is sent.
 */
async function placeOf(jobId: string, asked: number): Promise<number> {
  if (asked <= 1) return asked;
  const found = await lastText.first(pool, { jobId });
  if (!found || asked <= found.last) return asked;
  if (!TERMINAL.includes(found.status)) return resumeAfter(asked, { last: found.last, hasEnded: false });
  const frames = await endOf(jobId, found.last);
  return resumeAfter(asked, { last: frames.at(-1)?.id ?? found.last, hasEnded: true });
}

/**
 * The frames of an execution as they arrive, from where `lastEventId` resumes, on any process, with an empty
 * page for every quiet interval. The page with the terminal frame is the last. Throws NotFound for another
 * caller's execution, and for a durable job, which has events instead.
 */
export async function followFrames(
  ctx: Ctx,
  executionId: string,
  lastEventId: string | undefined,
  { right = "jobs:read", pace }: { right?: Scope | undefined; pace?: Pace | undefined } = {},
): Promise<AsyncIterable<Page<JobFrame>>> {
  const job = await findJob(ctx, executionId, right);
  if (job.operation !== "invoke")
    fail("NotFound", "There is no such streamed execution. For a job, read its events.");
  const topics = [job.id, framesTopic(job.id)];
  const after = await placeOf(job.id, Number(lastEventId ?? 0));
  return followPages(ctx, job, { read: readNext, topics, after, right }, pace);
}

/** True if the execution ended with this frame, so that nothing follows it. */
export async function hasLastFrame(ctx: Ctx, executionId: string, frameId: string): Promise<boolean> {
  const job = await findJob(ctx, executionId);
  if (job.operation !== "invoke") return false;
  const found = await lastText.first(pool, { jobId: job.id });
  if (!found || !TERMINAL.includes(found.status)) return false;
  return (await endOf(job.id, found.last)).at(-1)?.id === Number(frameId);
}
