import { type Artifact, type Download, download } from "./artifacts";
import type { Core, Schemas } from "./client";
import { AwaitingApprovalError, CapstanError, RunFailedError, WaitTimeoutError } from "./errors";
import { newIdempotencyKey, sleep } from "./transport";

export type WaitOptions = {
  signal?: AbortSignal | undefined;
  /** Of waiting, not of the job, which goes on; 600 when not given. */
  timeoutSeconds?: number | undefined;
  /** What happens when the job waits for a person: `throw` AwaitingApprovalError, or `wait` with it. */
  onApproval?: "throw" | "wait" | undefined;
  /** Told whenever the job was looked at. */
  onJob?: ((job: Schemas["Job"]) => void) | undefined;
};

export type RequestOptions = {
  /** The most it may cost; more is refused before anything is sent to a provider. */
  maxCostUsd?: number | undefined;
  /** Minted when not given. The same key is the same submission, so a repeated call answers with the first. */
  idempotencyKey?: string | undefined;
  /** Other members of `execution`, such as `quoteId` or `executionConstraints`. */
  execution?: Record<string, unknown> | undefined;
  /** Other members of the request: `tags`, `metadata`, `responseSchema`, `pin`, `context` and the like. */
  request?: Record<string, unknown> | undefined;
};

export type RunOptions = WaitOptions &
  RequestOptions & {
    /** As the capability is run when not given. */
    mode?: "invoke" | "job" | undefined;
  };

export type RunArtifact = Schemas["JobArtifactRef"] & {
  /** Its bytes, held against the SHA-256 that the receipt seals. */
  download(signal?: AbortSignal): Promise<Download>;
};

/** What succeeded. */
export type Run<Output = unknown> = {
  id: string;
  capability: string;
  output: Output;
  /** Null while it competes in a comparison that nobody has judged yet. */
  receipt: Schemas["Receipt"] | null;
  artifacts: RunArtifact[];
  warnings: Record<string, unknown>[];
};

/** The body of a submission: input and limits in the envelope. */
export function envelopeOf(
  core: Core,
  input: Record<string, unknown>,
  { maxCostUsd, execution, request = {} }: RequestOptions,
): Record<string, unknown> {
  const { projectId } = core;
  const constraints = {
    ...objectIn(execution, "executionConstraints"),
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
  };
  const whole = {
    ...execution,
    ...(Object.keys(constraints).length > 0 ? { executionConstraints: constraints } : {}),
  };
  return {
    ...(projectId === undefined ? {} : { context: { productId: projectId, projectId } }),
    ...request,
    input,
    ...(Object.keys(whole).length > 0 ? { execution: whole } : {}),
  };
}

function objectIn(value: Record<string, unknown> | undefined, name: string): Record<string, unknown> {
  const found = value?.[name];
  return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {}; // no list fits there
}

/** The init of a submission under one key: every try of it is the same submission. */
export const submission = (
  core: Core,
  capability: string,
  input: Record<string, unknown>,
  options: RequestOptions & { signal?: AbortSignal | undefined },
) => ({
  params: { path: { capability_key: capability } },
  body: envelopeOf(core, input, options),
  headers: { "idempotency-key": options.idempotencyKey ?? newIdempotencyKey() },
  signal: options.signal ?? null,
});

export async function runAndWait<Output>(
  core: Core,
  capability: string,
  input: Record<string, unknown>,
  options: RunOptions = {},
): Promise<Run<Output>> {
  const { signal } = options;
  const mode = options.mode ?? (await modeOf(core, capability, signal));
  const init = submission(core, capability, input, options);
  if (mode === "job") {
    const { jobId } = await core.post("/v1/capabilities/{capability_key}/jobs", init);
    return waitForJob(core, jobId, options);
  }
  const done = await core.post("/v1/capabilities/{capability_key}/invoke", init);
  const receipt = await receiptOf(core, done.executionId, signal);
  return {
    id: done.executionId,
    capability,
    output: done.typedOutput as Output, // what the capability's outputSchema says
    receipt,
    artifacts: withDownloads(core, done.executionId, receipt?.artifacts ?? []),
    warnings: done.warnings,
  };
}

async function modeOf(core: Core, capability: string, signal?: AbortSignal): Promise<"invoke" | "job"> {
  const { execution } = await core.get("/v1/capabilities/{capability_key}", {
    params: { path: { capability_key: capability } },
    signal: signal ?? null,
  });
  return execution.mode;
}

export async function waitForJob<Output>(
  core: Core,
  jobId: string,
  { signal, timeoutSeconds = 600, onApproval = "throw", onJob }: WaitOptions = {},
): Promise<Run<Output>> {
  const deadline = Date.now() + timeoutSeconds * 1000;
  for (;;) {
    const job = await core.get("/v1/jobs/{job_id}", {
      params: { path: { job_id: jobId } },
      signal: signal ?? null,
    });
    onJob?.(job);
    if (job.status === "succeeded") return succeeded<Output>(core, job, signal);
    if (job.status === "failed" || job.status === "canceled" || job.status === "needs_attention")
      throw failureOf(job);
    if (job.status === "awaiting_approval" && onApproval === "throw") throw approvalOf(job);
    const waitMs = (job.pollAfterSeconds ?? 4) * 1000;
    if (Date.now() + waitMs > deadline) throw new WaitTimeoutError(jobId, timeoutSeconds);
    await sleep(waitMs, signal);
  }
}

async function succeeded<Output>(
  core: Core,
  job: Schemas["Job"],
  signal?: AbortSignal,
): Promise<Run<Output>> {
  const receipt = await receiptOf(core, job.jobId, signal);
  return {
    id: job.jobId,
    capability: job.capabilityKey,
    output: job.typedOutput as Output, // what the capability's outputSchema says
    receipt,
    artifacts: withDownloads(core, job.jobId, receipt?.artifacts ?? job.artifacts),
    warnings: job.warnings,
  };
}

/** Null where a blind comparison hides it. */
export async function receiptOf(
  core: Core,
  jobId: string,
  signal?: AbortSignal,
): Promise<Schemas["Receipt"] | null> {
  const init = { params: { path: { job_id: jobId } }, signal: signal ?? null };
  return core.get("/v1/jobs/{job_id}/receipt", init).catch((error) => {
    if (error instanceof CapstanError && error.code === "ComparisonUnjudged") return null;
    throw error;
  });
}

const withDownloads = (core: Core, jobId: string, artifacts: Schemas["JobArtifactRef"][]): RunArtifact[] =>
  artifacts.map((artifact) => ({
    ...artifact,
    download: (signal) => download(core, jobId, artifact satisfies Artifact, signal),
  }));

/** The error of a job that will not succeed by itself. */
export function failureOf(job: Schemas["Job"]): RunFailedError {
  const {
    code = job.status,
    message = `The job is ${job.status}.`,
    retryable: _,
    ...details
  } = job.error ?? {};
  return new RunFailedError([message, job.error?.resolution].filter(Boolean).join(" "), {
    status: 200,
    code,
    details,
    // The same key answers with the same end; another one is another submission, and the caller's decision.
    retryable: false,
    nextAction: job.nextAction,
    executionId: job.jobId,
    receiptId: job.receiptId ?? undefined,
  });
}

function approvalOf({ jobId, approval }: Schemas["Job"]): AwaitingApprovalError {
  const url = approval?.approvalUrl ?? "";
  const why = approval?.message ?? "The job waits for a person.";
  return new AwaitingApprovalError(jobId, url, `${why} ${url}`.trim(), { ...approval });
}
