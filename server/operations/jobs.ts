import { artifactAnswer, DOWNLOAD } from "@/server/api/artifact-answer";
import { endpoint, eventStream, lastEventIdOf, raw, wantsEventStream } from "@/server/api/endpoint";
import { JsonObject } from "@/server/contract/common";
import {
  EventsQuery,
  Job,
  JobApproveBody,
  JobArtifactPath,
  JobEventPage,
  JobPage,
  JobRef,
  JobResult,
  ListJobs,
  ListProjectJobs,
  ProjectRef,
  SelectVariant,
} from "@/server/contract/jobs";
import { Receipt } from "@/server/contract/receipts";
import { ListReferences, ReferencePage } from "@/server/contract/references";
import * as jobs from "@/server/domain/jobs";

const tags = ["Jobs"];

export const listJobs = endpoint({
  method: "GET",
  path: "/v1/jobs",
  summary: "List the jobs this key submitted",
  tags,
  auth: ["service_principal"],
  scope: "jobs:read",
  query: ListJobs,
  output: JobPage,
  errors: [],
  run: (ctx, { query }) => jobs.mine(ctx, query),
});

export const listProjectJobs = endpoint({
  method: "GET",
  path: "/v1/projects/{project_id}/jobs",
  summary: "List a project's jobs, newest first",
  tags,
  auth: ["service_principal", "human_session"],
  scope: "jobs:read",
  params: ProjectRef,
  query: ListProjectJobs,
  output: JobPage,
  errors: ["NotFound"],
  run: (ctx, { params, query }) => jobs.history(ctx, params.project_id, query),
});

export const listProjectReferences = endpoint({
  method: "GET",
  path: "/v1/projects/{project_id}/references",
  summary: "List references for a next generation (uploaded inputs and chosen outputs), newest first",
  tags,
  auth: ["service_principal", "human_session"],
  scope: "jobs:read",
  params: ProjectRef,
  query: ListReferences,
  output: ReferencePage,
  errors: ["NotFound"],
  run: (ctx, { params, query }) => jobs.references(ctx, params.project_id, query),
});

export const getJob = endpoint({
  method: "GET",
  path: "/v1/jobs/{job_id}",
  summary: "Retrieve a job",
  tags,
  auth: ["service_principal", "panel_session"],
  scope: "jobs:read",
  params: JobRef,
  output: Job,
  errors: ["NotFound"],
  run: (ctx, { params }) => jobs.get(ctx, params.job_id),
});

export const listJobEvents = endpoint({
  method: "GET",
  path: "/v1/jobs/{job_id}/events",
  summary: "List a job's events, in order",
  description:
    "With `Accept: text/event-stream` the same events are streamed as they are written, each with its id. `Last-Event-ID` (or `cursor`) resumes after an event. The stream ends after the job's last event, `job.receipt_sealed`. Close an EventSource when you receive it: an EventSource reconnects whenever a stream ends, and the final `retry` only delays that by a day. `limit` applies to pages only.",
  tags,
  auth: ["service_principal", "panel_session"],
  scope: "jobs:read",
  params: JobRef,
  query: EventsQuery,
  output: JobEventPage,
  also: [raw("text/event-stream")],
  errors: ["NotFound"],
  run: async (ctx, { params, query, incoming }) => {
    if (!wantsEventStream(incoming)) return jobs.events(ctx, params.job_id, query);
    // A browser that reconnects sends the last id it saw, to the address it first requested.
    const cursor = lastEventIdOf(incoming) ?? query.cursor;
    const pages = await jobs.followEvents(ctx, params.job_id, { cursor, type: query.type });
    return eventStream(pages, (event) => ({ id: event.id, event: event.type, data: event }));
  },
});

export const getJobRequest = endpoint({
  method: "GET",
  path: "/v1/jobs/{job_id}/request",
  summary: "Retrieve a job's request in canonical form",
  tags,
  auth: ["service_principal"],
  scope: "jobs:read",
  params: JobRef,
  output: JsonObject,
  errors: ["NotFound"],
  run: (ctx, { params }) => jobs.request(ctx, params.job_id),
});

export const getJobResult = endpoint({
  method: "GET",
  path: "/v1/jobs/{job_id}/result",
  summary: "Retrieve a job's output",
  tags,
  auth: ["service_principal", "panel_session"],
  scope: "jobs:read",
  params: JobRef,
  output: JobResult,
  errors: ["NotFound"],
  run: (ctx, { params }) => jobs.result(ctx, params.job_id),
});

export const getJobReceipt = endpoint({
  method: "GET",
  path: "/v1/jobs/{job_id}/receipt",
  summary: "Retrieve a job's receipt",
  tags,
  auth: ["service_principal", "panel_session"],
  scope: "jobs:read",
  params: JobRef,
  output: Receipt,
  errors: ["NotFound", "JobNotFinished", "ComparisonUnjudged"],
  run: (ctx, { params }) => jobs.receipt(ctx, params.job_id),
});

export const getJobArtifact = endpoint({
  method: "GET",
  path: "/v1/jobs/{job_id}/artifacts/{artifact_id}",
  summary: "Download an artifact of a job",
  tags,
  auth: ["service_principal", "panel_session"],
  scope: "jobs:read",
  params: JobArtifactPath,
  ...DOWNLOAD,
  errors: ["NotFound", "Gone", "RangeNotSatisfiable"],
  run: async (ctx, { params, incoming }) => {
    const found = await jobs.artifact(ctx, params.job_id, params.artifact_id);
    return artifactAnswer(found, incoming, found.filename ?? found.artifact_id);
  },
});

export const selectJobVariant = endpoint({
  method: "POST",
  path: "/v1/jobs/{job_id}/variants/select",
  summary: "Select which variant of a job's output to keep",
  tags,
  auth: ["service_principal"],
  scope: "jobs:write",
  params: JobRef,
  body: SelectVariant,
  output: Job,
  errors: ["NotFound", "JobNotFinished"],
  run: (ctx, { params, body }) => jobs.selectVariant(ctx, params.job_id, body),
});

export const cancelJob = endpoint({
  method: "POST",
  path: "/v1/jobs/{job_id}/cancel",
  summary: "Cancel a job",
  tags,
  auth: ["service_principal", "panel_session"],
  scope: "jobs:write",
  params: JobRef,
  output: Job,
  errors: ["NotFound", "CapabilityNotAllowed", "JobNotCancelable"],
  run: (ctx, { params }) => jobs.cancel(ctx, params.job_id),
});

export const approveJob = endpoint({
  method: "POST",
  path: "/v1/jobs/{job_id}/approve",
  summary: "Approve a job",
  tags,
  auth: ["service_principal", "human_session"],
  scope: "approvals:write",
  params: JobRef,
  body: JobApproveBody,
  output: Job,
  errors: ["NotFound", "CapabilityNotAllowed", "JobNotAwaitingApproval", "EstimateExceedsMaxCost"],
  run: (ctx, { params, body }) => jobs.approve(ctx, params.job_id, body),
});

export const rejectJob = endpoint({
  method: "POST",
  path: "/v1/jobs/{job_id}/reject",
  summary: "Reject a job",
  tags,
  auth: ["service_principal", "human_session"],
  scope: "approvals:write",
  params: JobRef,
  output: Job,
  errors: ["NotFound", "CapabilityNotAllowed", "JobNotAwaitingApproval"],
  run: (ctx, { params }) => jobs.reject(ctx, params.job_id),
});

export const retryJob = endpoint({
  method: "POST",
  path: "/v1/jobs/{job_id}/retry",
  summary: "Retry a job",
  description:
    "Creates a new job with the same request under a new idempotency key, if nothing ran and nothing was charged; otherwise returns RetryNotSafe. A job has one retry: repeating the request returns the first retry, unless you send a different Idempotency-Key.",
  tags,
  auth: ["service_principal", "human_session"],
  scope: "capabilities:run",
  envelopeErrors: true,
  params: JobRef,
  output: Job,
  errors: [
    "NotFound",
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
  run: (ctx, { params, idempotencyKey }) => jobs.retry(ctx, params.job_id, idempotencyKey),
});
