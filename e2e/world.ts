import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setDefaultAutoSelectFamilyAttemptTimeout } from "node:net";
import { join } from "node:path";
import { Client } from "pg";
import { z } from "zod";
import { Job } from "@/server/contract/jobs";
import { PinnedBulk } from "@/server/contract/pinned";
import { PinnedRecord } from "@/server/contract/pinned-records";

// `localhost` is tried over IPv6, then IPv4; the default of a quarter second each is too short beside a browser on two busy
// cores.
setDefaultAutoSelectFamilyAttemptTimeout(10_000);

const Account = z.object({ email: z.string(), password: z.string() });
const Bootstrap = z.object({
  baseUrl: z.string(),
  organizationId: z.string(),
  projectId: z.string(),
  apiKey: z.string(),
  unboundApiKey: z.string(),
  member: Account,
  operator: Account,
});

/** The facts that the installation under test reported when it started. */
export const world = readWorld();

function dataDirectory(): string {
  const dataDir = process.env.CAPSTAN_E2E_DATA_DIR ?? process.env.CAPSTAN_DATA_DIR;
  if (!dataDir) throw new Error("CAPSTAN_DATA_DIR is not set: it names the installation to test.");
  return dataDir;
}

function readWorld() {
  const told = Bootstrap.parse(JSON.parse(readFileSync(join(dataDirectory(), "bootstrap.json"), "utf8")));
  return { ...told, baseUrl: process.env.CAPSTAN_BASE_URL ?? told.baseUrl };
}

/** Calls the API with a key and returns the raw response. */
export function call(path: string, { key = world.apiKey, body }: { key?: string; body?: unknown } = {}) {
  return fetch(new URL(path, world.baseUrl), {
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${key}`,
      // An admin command blocks this process for seconds, and the server closes kept-alive connections meanwhile.
      connection: "close",
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
}

async function callForJob(path: string, body?: unknown): Promise<Job> {
  const answer = await call(path, body === undefined ? {} : { body });
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
  return Job.parse(await answer.json());
}

export type Submission = {
  capability?: string;
  input: Record<string, unknown>;
  /** The sandbox model to use, e.g. sandbox-slow. */
  model?: string;
  tags?: string[];
  /** Further envelope fields. */
  envelope?: Record<string, unknown>;
};

/** Submits a durable job over the API. */
export function submit({
  capability = "text.general.fast.v1",
  input,
  model,
  tags,
  envelope,
}: Submission): Promise<Job> {
  return callForJob(`/v1/capabilities/${capability}/jobs`, {
    context: { projectId: world.projectId },
    input,
    ...(model && { execution: { executionConstraints: { preferredModel: model } } }),
    ...(tags && { tags }),
    ...envelope,
  });
}

export function textInput(content: string) {
  return { messages: [{ role: "user", content }] };
}

export function getJob(jobId: string): Promise<Job> {
  return callForJob(`/v1/jobs/${jobId}`);
}

const ENDED = ["succeeded", "failed", "canceled"];

/** Waits for the job's end, polling four times as often as the job proposes. */
export async function ended(jobId: string): Promise<Job> {
  for (;;) {
    const job = await getJob(jobId);
    if (ENDED.includes(job.status)) return job;
    await new Promise((resolve) => setTimeout(resolve, (job.pollAfterSeconds ?? 1) * 250));
  }
}

const SANDBOX_PIN = { provider: "sandbox", model: "sandbox-mixed", api: "responses" };

/** Runs one pinned request over the API and returns its record, whatever its outcome. */
export async function runPin(body: Record<string, unknown>): Promise<PinnedRecord> {
  const answer = await call("/v1/inference/pinned", {
    body: { context: { projectId: world.projectId }, pin: SANDBOX_PIN, ...body },
  });
  const told = await answer.json();
  const receiptId = told.receiptId ?? told.error?.details?.receiptId;
  if (!receiptId) throw new Error(`The pin answered ${answer.status}: ${JSON.stringify(told)}`);
  return PinnedRecord.parse(await (await call(`/v1/inference/pinned/${receiptId}`)).json());
}

/** Submits a bulk over the API, with one item per entry of `words`, in order. */
export async function submitBulk(words: string[], body: Record<string, unknown> = {}): Promise<PinnedBulk> {
  const answer = await call("/v1/inference/pinned/bulk", {
    body: {
      context: { projectId: world.projectId },
      pin: SANDBOX_PIN,
      items: words.map((input, place) => ({ id: `item-${String(place + 1).padStart(3, "0")}`, input })),
      ...body,
    },
  });
  if (!answer.ok) throw new Error(`The bulk answered ${answer.status}: ${await answer.text()}`);
  return PinnedBulk.parse(await answer.json());
}

/** Waits for the bulk's end. */
export async function bulkEnded(bulkId: string): Promise<PinnedBulk> {
  for (;;) {
    const bulk = PinnedBulk.parse(await (await call(`/v1/inference/pinned/bulk/${bulkId}`)).json());
    if (bulk.nextAction === "stop") return bulk;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/**
 * Writes states that no API of the installation under test can produce, such as a refusing vendor, into its database.
 */
export async function inDatabase(text: string, values: unknown[]): Promise<void> {
  const { databaseUrl } = JSON.parse(readFileSync(join(dataDirectory(), "runtime.json"), "utf8"));
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(text, values).finally(() => client.end());
}

/**
 * Runs `npm run admin -- … --json`, as the build bundled it, against the installation under test; returns the parsed JSON.
 */
export function admin(...args: string[]) {
  const told = execFileSync(process.execPath, ["dist/admin.mjs", ...args, "--json"], {
    env: { ...process.env, CAPSTAN_DATA_DIR: dataDirectory() },
  });
  return JSON.parse(told.toString());
}

/** A new person, so that a test's changes to their sessions do not disturb other tests. */
export function makePerson(
  role: "owner" | "member" | "viewer",
  { isOperator = false, organizationId = world.organizationId } = {},
): z.output<typeof Account> {
  const email = `${unique(role)}@capstan.localhost`;
  const { password } = admin(
    "user",
    "create",
    "--email",
    email,
    "--organization",
    organizationId,
    "--role",
    role,
  );
  if (isOperator) admin("operator", "grant", "--email", email);
  return Account.parse({ email, password });
}

/** A unique word, so that parallel tests do not see each other's jobs. */
export function unique(word: string): string {
  return `${word}-${crypto.randomUUID().slice(0, 8)}`;
}
