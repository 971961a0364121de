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
import { artifactAnswer, DOWNLOAD } from "./artifact-answer";

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
  summary: "List what a next generation may start from: uploaded inputs and chosen outputs, newest first",
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
  summary: "Read a job",
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
  summary: "Read a job's events in order",
  description:
    "With `Accept: text/event-stream` the same events come as they are written, each with its id; `Last-Event-ID` (or `cursor`) resumes after an event, and the stream ends after the last event of an ended job. Close an EventSource on that event, `job.receipt_sealed`: it reconnects to any stream that ends, and waits a day (`retry`) only after this end. `limit` is for pages only.",
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
    // A browser that comes back sends the last id it saw and the address it first asked.
    const cursor = lastEventIdOf(incoming) ?? query.cursor;
    const pages = await jobs.followEvents(ctx, params.job_id, { cursor, type: query.type });
    return eventStream(pages, (event) => ({ id: event.id, event: event.type, data: event }));
  },
});

export const getJobRequest = endpoint({
  method: "GET",
  path: "/v1/jobs/{job_id}/request",
  summary: "Read the canonical submitted request",
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
  summary: "Read a job's typed output",
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
  summary: "Read a job's sealed receipt",
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
  summary: "Download an artifact",
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
  summary: "Select the variant to keep",
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
  summary: "Approve a job that waits for a person",
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
  summary: "Reject a job that waits for a person",
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
  summary: "Run a job again under a new key, where that is safe",
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
