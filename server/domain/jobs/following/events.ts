import type { JobEvent, JobEventPage } from "@/server/contract/job-events";
import { TERMINAL } from "@/server/contract/jobs";
import { openContent } from "@/server/domain/content";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { toPage } from "@/server/domain/paging";
import { eventText, job as jobTable } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import {
  column,
  int4,
  int8,
  jsonb,
  maybe,
  type Of,
  pick,
  text,
  texts,
  timestamptz,
  untraced,
} from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { blindEvent } from "../reading/blind";
import { findJob, type JobRow, OF_JOB } from "../rows";
import { followPages, type Pace, resumeAfter } from "./follow";
import { PAGE_SIZE, type Page, type ReadPages } from "./hub";

export const EVENT = {
  ...untraced(
    { id: int4, type: text, payload: jsonb<Record<string, Json>>(), created_at: timestamptz },
    "every event of the view job_event has them",
  ),
  /**
   * The text of a `job.reader_text` event, stored apart because it is content; null on other events and once
   * it was removed.
   */
  text: maybe(eventText.text),
  is_sealed: maybe(eventText.is_sealed),
};
export type EventRow = Of<typeof EVENT>;

export const COLUMNS =
  "event.id, event.type, event.payload, event_text.text, event_text.is_sealed, event.created_at";
export const WITH_TEXT = `job_event event LEFT JOIN event_text ON event.type = 'job.reader_text'
  AND event_text.job_id = event.job_id AND event_text.event_id = event.id`;

const openText = (jobId: string, { payload, text, is_sealed }: EventRow) =>
  openContent({
    id: readerTextName(jobId, Number(payload.sequence)),
    content: text,
    is_sealed: is_sealed ?? false,
  });

/** A sealed text is bound to its position in its job. */
export const readerTextName = (jobId: string, sequence: number) => `${jobId}/reader_text/${sequence}`;

/** Columns of a job that its events need. */
type JobOfEvent = Pick<JobRow, "id" | "project_id" | "is_blind" | "created_at">;

/**
 * An event in the form that pages, streams and webhooks share. Null if it must not be shown, and then no
 * transport carries it.
 */
export function toEvent(job: JobOfEvent, row: EventRow): JobEvent | null {
  const event = {
    id: String(row.id),
    cursor: String(row.id),
    type: row.type,
    jobId: job.id,
    projectId: job.project_id,
    createdAt: row.created_at.toISOString(),
    payload: row.type === "job.reader_text" ? { text: openText(job.id, row), ...row.payload } : row.payload,
  };
  return job.is_blind ? blindEvent(job, event) : event;
}

const toEvents = (job: JobOfEvent, rows: EventRow[]) =>
  rows.map((row) => toEvent(job, row)).filter((event) => event !== null);

const listEvents = statement("event.list.page", {
  params: { ...OF_JOB, after: int4, type: maybe(text), limit: int8 },
  row: EVENT,
  sql: `SELECT ${COLUMNS} FROM ${WITH_TEXT}
    WHERE event.job_id = $id AND event.project_id = $project_id AND event.id > $after
      AND ($type::text IS NULL OR event.type = $type)
    ORDER BY event.id LIMIT $limit`,
});

/**
 * A page of a job's events in order. `cursor` is an exclusive lower bound on the event id. `nextCursor` is
 * present only if another page remains, and `resumeCursor` only if the cursor is beyond the job's last event.
 */
export async function events(
  ctx: Ctx,
  jobId: string,
  query: { cursor?: string | undefined; type?: string | undefined; limit: number },
): Promise<JobEventPage> {
  const job = await findJob(ctx, jobId);
  const after = Number(query.cursor ?? 0);
  if (after > job.last_event) return { events: [], resumeCursor: String(job.last_event) };
  const { id, project_id } = job;
  const rows = await listEvents.all(pool, {
    id,
    project_id,
    after,
    type: query.type,
    limit: query.limit + 1,
  });
  const { items: page, ...next } = toPage(rows, query.limit, (row) => row);
  return { events: toEvents(job, page), ...next };
}

const readPages = statement("event.list.next", {
  params: { jobIds: texts, after: column<number[]>("int4[]") },
  row: {
    place: int8,
    ...pick(jobTable, "status last_event"),
    ...untraced(EVENT, "an event has it, and is missing only if its id is null"),
    id: maybe(int4),
  },
  prepared: true,
  sql: `SELECT asked.place, job.status, job.last_event, page.*
    FROM unnest($jobIds::text[], $after::int[]) WITH ORDINALITY AS asked(job_id, after, place)
    JOIN job ON job.id = asked.job_id
    LEFT JOIN LATERAL (
      SELECT ${COLUMNS} FROM ${WITH_TEXT} WHERE event.job_id = asked.job_id AND event.id > asked.after
      ORDER BY event.id LIMIT ${PAGE_SIZE}) page ON true
    ORDER BY asked.place, page.id`,
});

/**
 * The next events of many jobs, read in one statement. `hasEnded`: the job has ended and its last event is in
 * the page or before it.
 */
const readNext: ReadPages<EventRow> = async (asks) => {
  const rows = await readPages.all(pool, {
    jobIds: asks.map(({ jobId }) => jobId),
    after: asks.map(({ after }) => after),
  });
  const pages = asks.map(() => ({ items: [] as EventRow[], hasEnded: false }));
  for (const { place, status, last_event, id, ...row } of rows) {
    const page = pages[place - 1]!;
    const after = id ?? asks[place - 1]!.after;
    if (id !== null) page.items.push({ id, ...row });
    page.hasEnded = TERMINAL.includes(status) && after >= last_event;
  }
  return pages;
};

/**
 * Follows the events of a job as they are written, from where `cursor` resumes, with an empty page for every
 * quiet interval. The page with the last event of an ended job is the last. An unknown job throws NotFound
 * before the first page.
 */
export async function followEvents(
  ctx: Ctx,
  jobId: string,
  query: { cursor?: string | undefined; type?: string | undefined },
  { pace, right = "jobs:read" }: { pace?: Pace | undefined; right?: Scope | undefined } = {},
): Promise<AsyncIterable<Page<JobEvent> & { lastId: string }>> {
  const job = await findJob(ctx, jobId, right);
  const place = { last: job.last_event, hasEnded: TERMINAL.includes(job.status) };
  const source = {
    read: readNext,
    topics: [job.id],
    after: resumeAfter(Number(query.cursor ?? 0), place),
    right,
  };
  return (async function* () {
    let last = source.after;
    for await (const { items, hasEnded } of followPages(ctx, job, source, pace)) {
      last = items.at(-1)?.id ?? last;
      const wanted = query.type === undefined ? items : items.filter(({ type }) => type === query.type);
      // A page with only other types is not a quiet interval, so it is skipped unless it is the last.
      if (wanted.length > 0 || items.length === 0 || hasEnded)
        yield { items: toEvents(job, wanted), hasEnded, lastId: String(last) };
    }
  })();
}

/** True if the job ended with this event, so that nothing follows it. */
export async function hasLastEvent(ctx: Ctx, jobId: string, eventId: string): Promise<boolean> {
  const { status, last_event } = await findJob(ctx, jobId);
  return TERMINAL.includes(status) && Number(eventId) === last_event;
}
