import { artifactAnswer, DOWNLOAD } from "@/server/api/answers/artifact";
import { eventStream, lastEventIdOf, nothingMore, raw, wantsEventStream } from "@/server/api/endpoint";
import { JsonObject, SHORT_PAGES } from "@/server/contract/common";
import { EventsQuery, JobEventPage } from "@/server/contract/job-events";
import {
  GetJob,
  Job,
  JobApproveBody,
  JobPage,
  JobResult,
  JobRetryBody,
  ListJobs,
  ListProjectJobs,
  SelectVariant,
} from "@/server/contract/jobs";
import { Receipt } from "@/server/contract/receipts";
import { ListReferences, ReferencePage } from "@/server/contract/references";
import * as jobs from "@/server/domain/jobs";
import { byKeys, byKeysAndEmbeds, byKeysAndPeople, operations } from "./define";

const readByKeys = operations("Jobs", byKeys("jobs:read"));
const readByPeople = operations("Jobs", byKeysAndPeople("jobs:read"));
const read = operations("Jobs", byKeysAndEmbeds("jobs:read"));
const write = operations("Jobs", byKeys("jobs:write"));
const writeByEmbeds = operations("Jobs", byKeysAndEmbeds("jobs:write"));
const decide = operations("Jobs", byKeysAndPeople("approvals:write"));
const run = operations("Jobs", byKeysAndPeople("capabilities:run"));

export const listJobs = readByKeys.get("/v1/jobs", {
  summary: "List the jobs this key submitted",
  description: SHORT_PAGES,
  query: ListJobs,
  output: JobPage,
  run: (ctx, { query }) => jobs.mine(ctx, query),
});

export const listProjectJobs = readByPeople.get("/v1/projects/{project_id}/jobs", {
  summary: "List a project's jobs, newest first",
  description: SHORT_PAGES,
  query: ListProjectJobs,
  output: JobPage,
  run: (ctx, { project_id, query }) => jobs.history(ctx, project_id, query),
});

export const listProjectReferences = readByPeople.get("/v1/projects/{project_id}/references", {
  summary: "List references for a next generation (uploaded inputs and chosen outputs), newest first",
  query: ListReferences,
  output: ReferencePage,
  run: (ctx, { project_id, query }) => jobs.references(ctx, project_id, query),
});

export const getJob = read.get("/v1/jobs/{job_id}", {
  summary: "Retrieve a job",
  description: "`waitSeconds` replaces polling: repeat the request until `status` is final.",
  query: GetJob,
  output: Job,
  run: (ctx, { job_id, query }) =>
    jobs.waitFor(ctx, job_id, { ms: query.waitSeconds * 1000, signal: ctx.signal?.(), until: "change" }),
});

export const listJobEvents = read.get("/v1/jobs/{job_id}/events", {
  summary: "List a job's events, in order",
  description:
    "With `Accept: text/event-stream` the same events are streamed as they are written, each with its id. `Last-Event-ID` (or `cursor`) resumes after an event; beyond the last one, the stream resumes at it, and a page is empty and has it as `resumeCursor`. The stream ends after the job's last event, `job.receipt_sealed`. An EventSource reconnects when a stream ends: with the id of the last event it gets 204, which ends it. `limit` applies to pages only.",
  query: EventsQuery,
  output: JobEventPage,
  also: [raw("text/event-stream")],
  partly: [204],
  http: async (ctx, { job_id, query, incoming }) => {
    if (!wantsEventStream(incoming)) return jobs.events(ctx, job_id, query);
    const over = await nothingMore(incoming, (id) => jobs.hasLastEvent(ctx, job_id, id));
    if (over) return over;
    // A browser that reconnects sends its last event id to the address of the first request.
    const cursor = lastEventIdOf(incoming) ?? query.cursor;
    const pages = await jobs.followEvents(ctx, job_id, { cursor, type: query.type });
    return eventStream(pages, (event) => ({ id: event.id, event: event.type, data: event }));
  },
});

export const getJobRequest = readByKeys.get("/v1/jobs/{job_id}/request", {
  summary: "Retrieve a job's request in canonical form",
  output: JsonObject,
  run: (ctx, { job_id }) => jobs.request(ctx, job_id),
});

export const getJobResult = read.get("/v1/jobs/{job_id}/result", {
  summary: "Retrieve a job's output",
  output: JobResult,
  run: (ctx, { job_id }) => jobs.result(ctx, job_id),
});

export const getJobReceipt = read.get("/v1/jobs/{job_id}/receipt", {
  summary: "Retrieve a job's receipt",
  output: Receipt,
  errors: ["JobNotFinished", "ComparisonUnjudged"],
  run: (ctx, { job_id }) => jobs.receipt(ctx, job_id),
});

export const getJobArtifact = read.get("/v1/jobs/{job_id}/artifacts/{artifact_id}", {
  summary: "Download an artifact of a job",
  ...DOWNLOAD,
  errors: ["Gone", "PreconditionFailed", "RangeNotSatisfiable"],
  http: async (ctx, { job_id, artifact_id, incoming }) => {
    const found = await jobs.artifact(ctx, job_id, artifact_id);
    return artifactAnswer(found, incoming, found.filename ?? found.artifact_id);
  },
});

export const selectJobVariant = write.post("/v1/jobs/{job_id}/variants/select", {
  summary: "Select which variant of a job's output to keep",
  body: SelectVariant,
  example: { artifactId: "art_01jd0000000000000000000000" },
  output: Job,
  errors: ["JobNotFinished"],
  run: (ctx, { job_id, body }) => jobs.selectVariant(ctx, job_id, body),
});

export const cancelJob = writeByEmbeds.post("/v1/jobs/{job_id}/cancel", {
  summary: "Cancel a job",
  output: Job,
  errors: ["CapabilityNotAllowed", "JobNotCancelable"],
  run: (ctx, { job_id }) => jobs.cancel(ctx, job_id),
});

export const approveJob = decide.post("/v1/jobs/{job_id}/approve", {
  summary: "Approve a job",
  body: JobApproveBody,
  example: { authorizedMaxAmount: 5 },
  output: Job,
  errors: ["CapabilityNotAllowed", "JobNotAwaitingApproval", "EstimateExceedsMaxCost"],
  run: (ctx, { job_id, body }) => jobs.approve(ctx, job_id, body),
});

export const rejectJob = decide.post("/v1/jobs/{job_id}/reject", {
  summary: "Reject a job",
  output: Job,
  errors: ["CapabilityNotAllowed", "JobNotAwaitingApproval"],
  run: (ctx, { job_id }) => jobs.reject(ctx, job_id),
});

export const retryJob = run.post("/v1/jobs/{job_id}/retry", {
  summary: "Retry a job",
  description:
    "Creates a new job with the same request under a new idempotency key, if nothing ran and nothing was charged; otherwise returns RetryNotSafe, unless `acceptPossibleDuplicateCharge` is true and the job has failed or was canceled: then the provider may run and charge it twice. `model` runs the request on another model. A job has one retry, and one on each other model: repeating the request returns the first, unless you send a different Idempotency-Key. The new job names the old one in `retryOf`.",
  envelopeErrors: true,
  body: JobRetryBody.nullish(),
  example: { model: "sandbox/sandbox-2" },
  output: Job,
  errors: [
    "PayloadUnavailable",
    "RetryNotSafe",
    "ComparisonUnjudged",
    "USE_INVOKE",
    "IdempotencyConflict",
    "ROUTE_UNAVAILABLE",
    "CONNECTION_REQUIRED",
    "EXTERNAL_ACTIONS_DISABLED",
    "DURABLE_CONCURRENCY_LIMIT",
  ],
  idempotent: true,
  run: (ctx, { job_id, idempotencyKey, body }) => jobs.retry(ctx, job_id, idempotencyKey, body ?? {}),
});
