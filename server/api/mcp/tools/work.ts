import { z } from "zod";
import { JsonObject, SHORT_PAGES } from "@/server/contract/common";
import { InvocationResult, Job, JobPage } from "@/server/contract/jobs";
import { Receipt } from "@/server/contract/receipts";
import { readWhole } from "@/server/domain/artifacts";
import type { Ctx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { fail } from "@/server/platform/errors/errors";
import { publicUrl } from "@/server/platform/settings/env";
import { places } from "../../rate-limit";
import { type Io, tool } from "../define";
import { CapabilityKey, Envelope, OPEN_REQUEST } from "./discovery";

const JobId = z.string().min(1).max(64);
const IdempotencyKey = z
  .string()
  .max(255)
  .optional()
  .describe("Send one: repeating the same request with the same key returns the same execution.");

const running = {
  scope: "capabilities:run",
  effect: "writes",
  open: OPEN_REQUEST,
  input: z.strictObject({
    capability_key: CapabilityKey,
    request: Envelope,
    idempotency_key: IdempotencyKey,
  }),
} as const;

const invoke = tool({
  ...running,
  name: "invoke",
  title: "Invoke a capability",
  description:
    "Runs a capability and waits for its output. What you pay is in charge. For short work only; longer work is refused with USE_JOBS, then use submit_job and wait_job.",
  output: InvocationResult,
  run(ctx, { capability_key, request, idempotency_key }) {
    if (request.executionMode === "Stream")
      fail("InvalidInput", "A tool cannot stream. Leave executionMode out.", {
        field: "request.executionMode",
      });
    return jobs.invoke(ctx, capability_key, request, { idempotencyHeader: idempotency_key });
  },
});

const submit = tool({
  ...running,
  name: "submit_job",
  title: "Create a durable job",
  description:
    "Returns the job's id immediately. Use wait_job to wait for its end, or job_status to read it.",
  output: Job,
  run: (ctx, { capability_key, request, idempotency_key }) =>
    jobs.submit(ctx, capability_key, request, idempotency_key),
});

const status = tool({
  name: "job_status",
  title: "Get a job",
  description: "Returns a job's status, next action, output, artifacts and, in charge, what you pay.",
  scope: "jobs:read",
  effect: "reads",
  input: z.strictObject({ job_id: JobId }),
  output: Job,
  run: (ctx, { job_id }) => jobs.get(ctx, job_id),
});

/** The wait ends after this time, whether or not the job has ended; the agent can wait again. */
const MOST_WAIT_SECONDS = 300;
/** Limited, because each wait keeps a connection open and polls the job. */
const waits = places(50, "waits");
const QUIET = { quietMs: 5_000, checkMs: 15_000 };

/** Waits for the job and reports each of its events as progress, with a keep-alive when there are none. */
function waitFor(ctx: Ctx, jobId: string, seconds: number, io: Io): Promise<Job> {
  let sentCount = 0;
  return jobs.waitFor(ctx, jobId, {
    ms: seconds * 1000,
    signal: io.signal,
    pace: QUIET,
    async heard(types, job) {
      for (const type of types.length > 0 ? types : [job.status]) await io.progress(++sentCount, null, type);
    },
  });
}

const wait = tool({
  name: "wait_job",
  title: "Wait for a job",
  description:
    "Returns the job when it has ended, when it needs a person, or when the time is up: check its status, and wait again if it is still running. Reports each event as progress. Cancelling the wait does not cancel the job.",
  scope: "jobs:read",
  effect: "reads",
  input: z.strictObject({
    job_id: JobId,
    timeout_seconds: z.int().min(1).max(MOST_WAIT_SECONDS).default(50),
  }),
  output: Job,
  async run(ctx, { job_id, timeout_seconds }, io) {
    const leave = waits.take(ctx.principal.id);
    try {
      return await waitFor(ctx, job_id, timeout_seconds, io);
    } finally {
      leave();
    }
  },
});

const cancel = tool({
  name: "cancel_job",
  title: "Cancel a job",
  description: "Cancels a job. Costs incurred so far are charged.",
  scope: "jobs:write",
  effect: "destroys",
  idempotent: true,
  input: z.strictObject({ job_id: JobId }),
  output: Job,
  run: (ctx, { job_id }) => jobs.cancel(ctx, job_id),
});

const find = tool({
  name: "jobs_find",
  title: "Find jobs",
  description: `Lists the project's jobs, newest first. recent: all jobs; failed: only failed jobs; reusable: only jobs whose output can be reused. ${SHORT_PAGES}`,
  scope: "jobs:read",
  effect: "reads",
  input: z.strictObject({
    intent: z.enum(["recent", "failed", "reusable"]).default("recent"),
    capability_key: CapabilityKey.optional(),
    project_id: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe("Required for a key that is not bound to a project."),
    cursor: z.string().max(64).optional(),
    limit: z.int().min(1).max(100).default(25),
  }),
  output: JobPage,
  run(ctx, { intent, capability_key, project_id, cursor, limit }) {
    const { principal } = ctx;
    const projectId = project_id ?? ("projectId" in principal ? principal.projectId : null);
    if (!projectId) fail("PROJECT_REQUIRED", "This key is not bound to a project. Set project_id.");
    const outcome = intent === "recent" ? undefined : intent;
    return jobs.history(ctx, projectId, { limit, cursor, capabilityKey: capability_key, outcome });
  },
});

const inspect = tool({
  name: "job_inspect",
  title: "Inspect a job",
  description: "Returns the job and the request as it ran. The request is null if its content was removed.",
  scope: "jobs:read",
  effect: "reads",
  input: z.strictObject({ job_id: JobId }),
  output: z.object({ job: Job, request: JsonObject }),
  async run(ctx, { job_id }) {
    const [job, request] = await Promise.all([jobs.get(ctx, job_id), jobs.request(ctx, job_id)]);
    return { job, request };
  },
});

const receipt = tool({
  name: "get_receipt",
  title: "Get a job's receipt",
  description: "Returns the signed receipt: what ran, at which provider, and what it cost.",
  scope: "jobs:read",
  effect: "reads",
  input: z.strictObject({ job_id: JobId }),
  output: Receipt,
  run: (ctx, { job_id }) => jobs.receipt(ctx, job_id),
});

/** Larger images are only linked. */
const MOST_SHOWN_BYTES = 1024 * 1024;

const artifact = tool({
  name: "download_artifact",
  title: "Get a job's artifact",
  description:
    "Returns the URL of the artifact, which needs the same key, and its hash. Images up to 1 MiB are also included.",
  scope: "jobs:read",
  effect: "reads",
  input: z.strictObject({ job_id: JobId, artifact_id: z.string().min(1).max(64) }),
  output: z.object({
    artifactId: z.string(),
    mediaType: z.string(),
    byteLength: z.int(),
    sha256: z.string(),
    filename: z.string().nullable(),
    downloadPath: z.string(),
    downloadUrl: z.string(),
  }),
  async run(ctx, { job_id, artifact_id }, io) {
    const found = await jobs.artifact(ctx, job_id, artifact_id);
    const downloadPath = `/v1/jobs/${job_id}/artifacts/${found.artifact_id}`;
    const downloadUrl = new URL(downloadPath, publicUrl).href;
    const { media_type: mimeType, byte_length: byteLength, sha256, filename } = found;
    io.show({ type: "resource_link", uri: downloadUrl, name: filename ?? found.artifact_id, mimeType });
    if (mimeType.startsWith("image/") && byteLength <= MOST_SHOWN_BYTES)
      io.show({ type: "image", data: Buffer.from(await readWhole(sha256)).toString("base64"), mimeType });
    return {
      artifactId: found.artifact_id,
      mediaType: mimeType,
      byteLength,
      sha256,
      filename: filename ?? null,
      downloadPath,
      downloadUrl,
    };
  },
});

export const workTools = [invoke, submit, status, wait, cancel, find, inspect, receipt, artifact];
