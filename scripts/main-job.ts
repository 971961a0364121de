import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { CapabilityDescriptor, CapabilityList } from "@/server/contract/capabilities";
import { JobEventPage } from "@/server/contract/job-events";
import { Job, JobResult } from "@/server/contract/jobs";
import { RetailQuote } from "@/server/contract/pricing";
import { Receipt } from "@/server/contract/receipts";

type Access = { baseUrl: string; apiKey: string; projectId: string };

export type MainJobRow = {
  capability: string;
  jobId: string;
  /** The time from the first byte of the submission to the last event. */
  totalMs: number;
  /** The time from the first byte of the submission to its response. */
  submitMs: number;
  events: number;
  output: string;
  receiptId: string;
};

const WORK = [
  {
    key: "text.general.fast.v1",
    input: {
      messages: [{ role: "user", content: "Say in one sentence what a capstan is." }],
      maxOutputTokens: 200,
    },
  },
  {
    key: "image.generate.v1",
    input: { prompt: "A capstan on a wooden quay at sunrise", width: 1024, height: 1024 },
  },
];
/** The job must cost nothing, so it never goes to a real provider that is also configured. */
const EXECUTION = { executionPreference: "automatic", executionConstraints: { providerPin: "sandbox" } };
const PATIENCE_MS = 90_000;

/**
 * Runs the product's main path once over public HTTP: discover, quote, submit, follow, download, compare with the receipt.
 * Throws a sentence that names what failed.
 */
export async function runMainJob(access: Access): Promise<MainJobRow[]> {
  const list = await get(access, "/v1/capabilities", CapabilityList);
  const keys = new Set(list.capabilities.map((capability) => capability.key));
  const rows: MainJobRow[] = [];
  for (const { key, input } of WORK) {
    if (!keys.has(key)) throw new Error(`GET /v1/capabilities does not list ${key}.`);
    rows.push(await runOne(access, key, input));
  }
  return rows;
}

async function runOne(access: Access, key: string, input: Record<string, unknown>): Promise<MainJobRow> {
  const capability = `/v1/capabilities/${key}`;
  const descriptor = await get(access, capability, CapabilityDescriptor);
  if (!descriptor.executionModes.includes("job_async"))
    throw new Error(`${key} does not offer durable jobs.`);
  const context = { projectId: access.projectId };
  const quote = await post(
    access,
    `${capability}/quote`,
    { context, input, execution: EXECUTION },
    RetailQuote,
  );
  if (quote.status !== "ok" || !quote.quoteId) throw new Error(`${key}: the quote is ${quote.status}.`);

  const beganAt = performance.now();
  const submitted = await post(
    access,
    `${capability}/jobs`,
    {
      context,
      input,
      execution: { ...EXECUTION, quoteId: quote.quoteId },
      idempotencyKey: `main-job-${randomUUID()}`,
    },
    Job,
  );
  const submitMs = performance.now() - beganAt;
  const events = await follow(access, submitted.jobId);
  const totalMs = performance.now() - beganAt;

  const job = await get(access, `/v1/jobs/${submitted.jobId}`, Job);
  if (job.status !== "succeeded")
    throw new Error(
      `${key}: job ${job.jobId} ended as ${job.status}: ${job.error?.code} ${job.error?.message}`,
    );
  const result = await get(access, `/v1/jobs/${job.jobId}/result`, JobResult);
  const receipt = await get(access, `/v1/jobs/${job.jobId}/receipt`, Receipt);
  if (receipt.receiptId !== job.receiptId)
    throw new Error(`${key}: the job's receiptId is not the id of its receipt.`);
  const checked = await checkArtifacts(access, receipt);
  const output = checked ?? excerpt(result.typedOutput);
  return {
    capability: key,
    jobId: job.jobId,
    totalMs,
    submitMs,
    events,
    output,
    receiptId: receipt.receiptId,
  };
}

/** Reads events until the job has ended, and returns their number. */
async function follow(access: Access, jobId: string): Promise<number> {
  let seen = 0;
  let cursor: string | undefined;
  const deadline = performance.now() + PATIENCE_MS;
  for (let ended = false; ; ) {
    const query = cursor ? `?cursor=${cursor}` : "";
    const page = await get(access, `/v1/jobs/${jobId}/events${query}`, JobEventPage);
    for (const event of page.events) {
      if (Number(event.id) !== ++seen)
        throw new Error(`Job ${jobId}: received event ${event.id}, expected ${seen}.`);
      cursor = event.cursor;
      if (["job.succeeded", "job.failed", "job.canceled"].includes(event.type)) ended = true;
    }
    // The receipt's event may follow the terminal one; an empty page is the end.
    if (ended && page.events.length === 0) return seen;
    if (performance.now() > deadline)
      throw new Error(`Job ${jobId} did not end within ${PATIENCE_MS / 1000} s. Check the worker's log.`);
    if (!ended) await sleep(50);
  }
}

async function checkArtifacts(access: Access, receipt: Receipt): Promise<string | null> {
  let words: string | null = null;
  for (const artifact of receipt.artifacts) {
    const response = await call(access, `/v1/jobs/${receipt.jobId}/artifacts/${artifact.artifactId}`);
    const bytes = Buffer.from(await response.arrayBuffer());
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    if (sha256 !== artifact.sha256)
      throw new Error(
        `Artifact ${artifact.artifactId} has the SHA-256 ${sha256}, but receipt ${receipt.receiptId} has ${artifact.sha256}.`,
      );
    words ??= `${artifact.mediaType}, ${bytes.length} bytes, SHA-256 ${sha256.slice(0, 12)}… as on the receipt`;
  }
  return words;
}

function excerpt(output: z.core.util.JSONType): string {
  const content = z.object({ content: z.string().min(1) }).safeParse(output);
  if (!content.success) throw new Error("The text job's output has no content.");
  const line = content.data.content.replaceAll(/\s+/g, " ");
  return line.length > 60 ? `“${line.slice(0, 60)}…”` : `“${line}”`;
}

async function get<T extends z.ZodType>(access: Access, path: string, schema: T): Promise<z.output<T>> {
  return read(path, await call(access, path), schema);
}

async function post<T extends z.ZodType>(access: Access, path: string, body: object, schema: T) {
  return read(path, await call(access, path, body), schema);
}

/** One request. On 429 it waits for Retry-After and retries, so that low limits do not fail a start. */
async function call(access: Access, path: string, body?: object): Promise<Response> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const response = await send(access, path, body);
    const pauseMs = Number(response.headers.get("retry-after") ?? 1) * 1_000;
    const isLimited = response.status === 429 && performance.now() + pauseMs < deadline;
    if (!isLimited) return accepted(response, path, body);
    await response.body?.cancel();
    await sleep(pauseMs);
  }
}

function send(access: Access, path: string, body?: object): Promise<Response> {
  return fetch(access.baseUrl + path, {
    method: body ? "POST" : "GET",
    headers: {
      authorization: `Bearer ${access.apiKey}`,
      ...(body && { "content-type": "application/json" }),
    },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
}

async function accepted(response: Response, path: string, body?: object): Promise<Response> {
  if (!response.ok)
    throw new Error(
      `${body ? "POST" : "GET"} ${path} answered ${response.status}: ${(await response.text()).slice(0, 500)}`,
    );
  return response;
}

async function read<T extends z.ZodType>(path: string, response: Response, schema: T): Promise<z.output<T>> {
  const parsed = schema.safeParse(await response.json());
  if (!parsed.success)
    throw new Error(`The response of ${path} does not match its contract: ${parsed.error.message}`);
  return parsed.data;
}
