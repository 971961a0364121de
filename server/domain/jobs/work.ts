import { canonicalText, sha256Hex } from "@/server/canonical";
import type { Capability } from "@/server/capabilities/define";
import { openContent, type StoredContent } from "@/server/content";
import { pool } from "@/server/db";
import { getCapability, type Route, targetsOf } from "@/server/domain/catalog";
import { ruled } from "@/server/domain/quotes";
import type { ImageCall, TextCall } from "@/server/providers/define";
import type { Json } from "@/server/step";
import type { JobRow } from "./rows";

/** A job with what its attempt needs, read back from the rows. */
export type LoadedWork = {
  job: JobRow;
  capability: Capability;
  input: unknown;
  inputHash: string;
  route: Pick<Route, "provider" | "model">;
  call: TextCall | ImageCall;
  /** Is the text shown to a reader as it is written? */
  hasReader: boolean;
};

type Snapshot = {
  input: Record<string, Json>;
  readerDelivery?: Json;
  responseSchema?: Record<string, Json>;
  toolSchemas?: Record<string, Json>[];
  sampling?: {
    temperature?: number | null;
    reasoningIntent?: "omit" | "economy" | "balanced" | "deep" | "maximum" | null;
  };
};

/** What was asked, as the receipt names it: the hash of the canonical input alone. */
export const inputHashOf = (input: unknown) => sha256Hex(canonicalText(input as Json)); // inputs are parsed JSON

/** The same of a job whose request is read back; null where its content was not kept. */
export async function storedInputHash(jobId: string): Promise<string | null> {
  const { rows } = await pool.query<StoredContent>(
    "SELECT id, content, is_sealed FROM payload WHERE job_id = $1 AND kind = 'request'",
    [jobId],
  );
  const content = rows[0] ? openContent(rows[0]) : null;
  return content === null ? null : inputHashOf(JSON.parse(content).input);
}

/** The job row without any question of rights: the engine's own read. */
export async function readJob(jobId: string): Promise<JobRow | null> {
  const { rows } = await pool.query<JobRow>({
    name: "read-job",
    text: "SELECT * FROM job WHERE id = $1",
    values: [jobId],
  });
  return rows[0] ?? null;
}

/**
 * Reads a job with its request back and makes the same call again. `work` is null where the content was pruned or the
 * model is gone; null altogether where there is no job.
 */
export async function loadWork(jobId: string): Promise<{ job: JobRow; work: LoadedWork | null } | null> {
  const { rows } = await pool.query<
    JobRow & { payload_id: string; content: string | null; is_sealed: boolean }
  >({
    name: "load-work",
    text: `SELECT job.*, payload.id AS payload_id, payload.content, payload.is_sealed,
        (extract(epoch FROM payload.expires_at - payload.created_at) * 1000)::float8 AS content_kept_ms
      FROM job LEFT JOIN payload ON payload.job_id = job.id AND payload.kind = 'request' WHERE job.id = $1`,
    values: [jobId],
  });
  const job = rows[0]; // with the content beside its columns
  if (!job) return null;
  const content = openContent({ id: job.payload_id, content: job.content, is_sealed: job.is_sealed });
  return { job, work: content === null ? null : toWork(job, JSON.parse(content)) };
}

function toWork(job: JobRow, snapshot: Snapshot): LoadedWork | null {
  const capability = getCapability(job.capability_key);
  const execution = capability.execute;
  const route = targetsOf(capability).find(
    ({ provider, model }) => provider.name === job.provider && model.id === job.model,
  );
  if ("local" in execution || !route) return null;
  const input = capability.input.parse(snapshot.input);
  const call = ruled(() =>
    execution.call(
      input as never, // parsed by this capability's own schema
      {
        ...(snapshot.responseSchema ? { responseSchema: snapshot.responseSchema } : {}),
        ...(typeof snapshot.sampling?.temperature === "number"
          ? { temperature: snapshot.sampling.temperature }
          : {}),
        ...(snapshot.sampling?.reasoningIntent ? { reasoningIntent: snapshot.sampling.reasoningIntent } : {}),
        ...(snapshot.toolSchemas?.length ? { tools: snapshot.toolSchemas } : {}),
      },
      route.model,
    ),
  );
  const hasReader = Boolean(snapshot.readerDelivery);
  return { job, capability, input, inputHash: inputHashOf(snapshot.input), route, call, hasReader };
}
