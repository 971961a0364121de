import type { Client } from "../client";
import type { Schemas } from "../core";
import { CapstanError } from "../errors";
import { shortestMode } from "../run";
import { saveArtifacts } from "./files";
import { positive, readObject } from "./input";
import { type Common, clientOf, commandSettings } from "./settings";
import { type Terminal, table, UsageError } from "./terminal";

export type RunCommand = Common & {
  input: string;
  maxCostUsd?: string;
  wait?: boolean;
  timeout?: string;
  out?: string;
  model?: string;
  idempotencyKey?: string;
};

/** Runs a capability; without `--wait` or `--out`, a job is printed as soon as it is submitted. */
export async function runCapability(
  terminal: Terminal,
  options: RunCommand,
  capability: string,
): Promise<void> {
  const client = clientOf(options);
  const input = await readObject(options.input);
  const maxCostUsd = positive("--max-cost-usd", options.maxCostUsd);
  const timeoutSeconds = positive("--timeout", options.timeout);
  const request = {
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
    ...(options.idempotencyKey ? { idempotencyKey: options.idempotencyKey } : {}),
    ...(options.model ? { execution: { executionConstraints: { preferredModel: options.model } } } : {}),
  };
  const descriptor = await client.get("/v1/capabilities/{capability_key}", {
    params: { path: { capability_key: capability } },
  });
  const mode = shortestMode(descriptor);
  if (mode === "job" && !options.wait && !options.out) {
    const job = await client.submit(capability, input, request);
    return terminal.answer(
      job,
      `${job.jobId} is ${job.status}. Follow it with: capstan jobs events ${job.jobId} --follow`,
    );
  }
  const done = await client.runAndWait(capability, input, {
    ...request,
    mode,
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
  });
  const files = options.out ? await saveArtifacts(client, done.id, done.artifacts, options.out) : [];
  const { id, output, charge, receipt, warnings } = done;
  const artifacts = done.artifacts.map(({ download: _, ...artifact }) => artifact);
  terminal.answer(
    {
      id,
      status: "succeeded",
      capability,
      output,
      charge,
      receiptId: receipt?.receiptId ?? null,
      artifacts,
      files,
      warnings,
    },
    [
      shownOutput(output),
      ...files.map(({ path, sha256 }) => `saved ${path} (sha256 ${sha256})`),
      ...(files.length === 0 && artifacts.length > 0
        ? [`${artifacts.length} artifacts. Save them with: capstan jobs artifacts ${id} --out <folder>`]
        : []),
      ...(charge ? [`you pay ${chargeWords(charge)}`] : []),
      ...(terminal.isJson ? [] : [`${id}  ${receipt?.receiptId ?? "no receipt yet"}`]),
    ].join("\n"),
  );
}

/** The output, or its `content`, if that is text; any other output as JSON. */
function shownOutput(output: unknown): string {
  const content =
    typeof output === "object" && output !== null && "content" in output ? output.content : output;
  return typeof content === "string" ? content : JSON.stringify(output, null, 2);
}

export async function listJobs(
  terminal: Terminal,
  options: Common & { status?: string; capability?: string; limit?: string; cursor?: string },
): Promise<void> {
  const client = clientOf(options);
  const limit = positive("--limit", options.limit) ?? 25;
  const projectId =
    commandSettings(options).projectId ?? (await client.get("/v1/diagnostics/session")).projectId;
  if ((options.status || options.capability) && !projectId)
    throw new UsageError("--status and --capability need a project. Set one with --project.");
  const page = { limit, ...(options.cursor ? { cursor: options.cursor } : {}) };
  const query = {
    ...page,
    ...(options.status ? { status: options.status as Schemas["Job"]["status"] } : {}), // the service refuses other values
    ...(options.capability ? { capabilityKey: options.capability } : {}),
  };
  const found = projectId
    ? await client.get("/v1/projects/{project_id}/jobs", {
        params: { path: { project_id: projectId }, query },
      })
    : await client.get("/v1/jobs", { params: { query: page } });
  const rows = found.items.map(({ jobId, status, capabilityKey, createdAt, charge }) => [
    jobId,
    status,
    capabilityKey,
    createdAt,
    charge ? chargeWords(charge) : "",
  ]);
  const more = found.nextCursor ? `\nmore: --cursor ${found.nextCursor}` : "";
  terminal.answer(found, rows.length === 0 ? "No jobs." : table(rows) + more);
}

const at = (jobId: string) => ({ params: { path: { job_id: jobId } } });

export async function printJob(terminal: Terminal, options: Common, jobId: string): Promise<void> {
  const job = await clientOf(options).get("/v1/jobs/{job_id}", at(jobId));
  const facts: [string, unknown][] = [
    ["capability", job.capabilityKey],
    ["created", job.createdAt],
    ["completed", job.completedAt],
    ["you pay", job.charge && chargeWords(job.charge)],
    ["receipt", job.receiptId],
    ["artifacts", job.artifacts.length || null],
    ["error", job.error && `${job.error.code}: ${job.error.message}`],
    ["what to do", job.error?.resolution],
    ["approve at", job.approval?.approvalUrl],
    ["next", job.nextAction],
  ];
  const lines = facts
    .filter(([, value]) => value)
    .map(([name, value]) => `${name.padEnd(11)} ${String(value)}`);
  terminal.answer(job, [`${job.jobId} ${job.status}`, ...lines].join("\n"));
}

type Charge = Schemas["Charge"];

/** The customer's charge in words, with its state unless it was charged to the balance. */
function chargeWords({ state, chargedMicros, authorizedMicros, currency }: Charge): string {
  const amount = (micros: number) => `${micros / 1_000_000} ${currency}`;
  if (state === "reserved") return `up to ${amount(authorizedMicros)}`;
  if (chargedMicros === null) return "not known yet";
  if (state === "byok") return `${amount(chargedMicros)}, the provider bills you`;
  return state === "charged"
    ? amount(chargedMicros)
    : `${amount(chargedMicros)} (${state.replaceAll("_", " ")})`;
}

/** Prints a job's events. With `follow`, streams them until the job has ended, one line per event. */
export async function jobEvents(
  terminal: Terminal,
  options: Common & { follow?: boolean },
  jobId: string,
): Promise<void> {
  const client = clientOf(options);
  const shown = (event: Schemas["JobEvent"]) =>
    `${event.createdAt}  ${event.type}  ${JSON.stringify(event.payload)}`;
  if (!options.follow) {
    const events: Schemas["JobEvent"][] = [];
    for (let cursor: string | undefined; ; ) {
      const query = { limit: 200, ...(cursor ? { cursor } : {}) };
      const page = await client.get("/v1/jobs/{job_id}/events", {
        params: { path: { job_id: jobId }, query },
      });
      events.push(...page.events);
      if (!page.nextCursor || page.nextCursor === cursor || page.events.length === 0) break;
      cursor = page.nextCursor;
    }
    return terminal.answer({ events }, events.map(shown).join("\n"));
  }
  for await (const event of client.jobEvents(jobId)) terminal.line(event, shown(event));
}

export async function jobResult(terminal: Terminal, options: Common, jobId: string): Promise<void> {
  const result = await clientOf(options).get("/v1/jobs/{job_id}/result", at(jobId));
  terminal.answer(result, shownOutput(result.typedOutput));
}

export async function cancelAndPrintJob(terminal: Terminal, options: Common, jobId: string): Promise<void> {
  const job = await clientOf(options).post("/v1/jobs/{job_id}/cancel", at(jobId));
  terminal.answer(job, `${job.jobId} is ${job.status}.`);
}

/**
 * Lists a job's artifacts, or saves them, each verified against the hash in the receipt, or in the job if there is no
 * receipt.
 */
export async function jobArtifacts(
  terminal: Terminal,
  options: Common & { out?: string },
  jobId: string,
): Promise<void> {
  const client = clientOf(options);
  const artifacts = await artifactsOf(client, jobId);
  const files = options.out ? await saveArtifacts(client, jobId, artifacts, options.out) : [];
  const rows = artifacts.map((each) => [
    each.artifactId,
    each.mediaType,
    String(each.byteLength ?? ""),
    files.find(({ artifactId }) => artifactId === each.artifactId)?.path ?? each.filename ?? "",
  ]);
  terminal.answer({ artifacts, files }, rows.length === 0 ? "No artifacts." : table(rows));
}

async function artifactsOf(client: Client, jobId: string): Promise<Schemas["JobArtifactRef"][]> {
  try {
    return (await client.get("/v1/jobs/{job_id}/receipt", at(jobId))).artifacts;
  } catch (error) {
    if (!(error instanceof CapstanError) || error.status !== 409) throw error; // the receipt may be sealed or revealed later
    return (await client.get("/v1/jobs/{job_id}", at(jobId))).artifacts;
  }
}

/** The sealed receipt, always as JSON, so that it can be saved and verified. */
export async function getReceipt(terminal: Terminal, options: Common, id: string): Promise<void> {
  const jobId = id.startsWith("rcpt_") ? `wfr_${id.slice(5)}` : id; // a job and its receipt have the same ULID
  const receipt = await clientOf(options).get("/v1/jobs/{job_id}/receipt", at(jobId));
  terminal.answer(receipt, JSON.stringify(receipt, null, 2));
}
