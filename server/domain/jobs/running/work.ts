import type { Conversation } from "@/server/capabilities/conversation";
import {
  type Capability,
  type OutputFile,
  type Stage,
  stageAsCapability,
} from "@/server/capabilities/define";
import { getCapability, type Route, targetOf } from "@/server/domain/catalog";
import { openContent, type StoredContent } from "@/server/domain/content";
import type { Ctx } from "@/server/domain/ctx";
import type { Answer, Lease } from "@/server/domain/executions";
import {
  asFault,
  callOptions,
  forMaker,
  materialize,
  type StageEstimate,
  stagesOf,
} from "@/server/domain/quotes";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import type { AnyCall } from "@/server/providers/define";
import { names, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import type { Next } from "../ending/ending";
import {
  type AttemptRow,
  JOB,
  type JobRow,
  type JobWithRequest,
  LEASE_LEFT,
  LEASE_LEFT_COLUMN,
  REQUEST,
  REQUEST_COLUMNS,
  reachOf,
} from "../rows";

/** A job with its request, read back from the rows. */
export type LoadedWork = {
  job: JobRow;
  capability: Capability;
  input: unknown;
  inputHash: string;
  /** Null: runs here. */
  route: Pick<Route, "provider" | "model"> | null;
  /** Is the text shown to a reader as it is written? */
  hasReader: boolean;
  /** Absent where its call is in hand. */
  snapshot?: Snapshot;
  /** The calls before the main one, of a job that makes several. */
  stages?: JobStage[];
  /** Which of them this is the work of; absent: the main one's. */
  stage?: JobStage;
  /** Of an execution whose caller waits for it in this process. */
  sync?: Sync;
};

/** How a synchronous execution differs from a durable job. */
export type Sync = {
  /** Its call as it was planned: its request may not be kept. */
  ready: Pick<ReadyWork, "route" | "call" | "material">;
  /** The caller takes an answer as it was said: cut off at its limit, or with calls of tools. */
  takesAsSaid: boolean;
  /** Until when a refused call may be sent again. */
  waitsUntil: Date;
  /** Answer and end are one write. */
  keep(turn: Turn, answer: Answer): Promise<Next>;
};

/** One turn of an execution: its work and its open attempt, under a lease that this process holds. */
export type Turn = { ctx: Ctx; work: LoadedWork; row: AttemptRow; lease: Lease };

/** A call before the main one, with what was fixed about it at admission. */
export type JobStage = {
  stage: Stage<unknown, unknown>;
  capability: Capability;
  route: NonNullable<LoadedWork["route"]>;
  estimate: StageEstimate;
};

/** The same, with the call its provider gets. */
export type ReadyWork = LoadedWork & {
  route: NonNullable<LoadedWork["route"]>;
  call: AnyCall;
  /** What the capability made ready for its call and its result. */
  material: unknown;
};

type Snapshot = {
  input: Record<string, Json>;
  readerDelivery?: Json;
  responseSchema?: Record<string, Json>;
  responseSchemaName?: string;
  responseSchemaStrict?: boolean;
  toolSchemas?: Record<string, Json>[];
  conversation?: Conversation;
  sampling?: {
    temperature?: number | null;
    reasoningIntent?: "omit" | "economy" | "balanced" | "deep" | "maximum" | null;
  };
};

/** The request, as the receipt names it: the hash of the canonical input alone. */
const inputHashOf = (input: unknown) => sha256Hex(canonicalText(input as Json)); // inputs are parsed JSON

/** The same of a job whose request is read back; null where its content was not kept. */
export async function storedInputHash(jobId: string): Promise<string | null> {
  const { rows } = await pool.query<StoredContent>(
    "SELECT id, content, is_sealed FROM payload WHERE job_id = $1 AND kind = 'request'",
    [jobId],
  );
  const content = rows[0] ? openContent(rows[0]) : null;
  return content === null ? null : inputHashOf(JSON.parse(content).input);
}

const ofId = statement("read-job", {
  params: { jobId: text },
  row: { ...JOB, ...LEASE_LEFT },
  prepared: true,
  sql: `SELECT ${names(JOB)}, ${LEASE_LEFT_COLUMN} FROM job WHERE id = $jobId`,
});
const withRequest = statement("load-work", {
  params: { jobId: text },
  row: { ...JOB, ...LEASE_LEFT, ...REQUEST },
  prepared: true,
  sql: `SELECT ${names(JOB, "job")}, ${LEASE_LEFT_COLUMN}, ${REQUEST_COLUMNS}
    FROM job LEFT JOIN payload ON payload.job_id = job.id AND payload.kind = 'request' WHERE job.id = $jobId`,
});

/** The job row without any question of rights: the engine's own read. */
export const readJob = (jobId: string): Promise<JobRow | null> => ofId.first(pool, { jobId });

/** A job with its request; `work` is null where the content was pruned or the model is gone. */
export type Loaded = { job: JobRow; work: LoadedWork | null };

/** Reads a job with its request back; null where there is no job. */
export async function loadWork(jobId: string): Promise<Loaded | null> {
  const row = await withRequest.first(pool, { jobId });
  return row && toLoaded(row);
}

/** The same of a row that was read with its request. */
export function toLoaded(job: JobWithRequest): Loaded {
  const content = openContent({ id: job.payload_id, content: job.content, is_sealed: job.is_sealed });
  return { job, work: content === null ? null : toWork(job, JSON.parse(content)) };
}

function toWork(job: JobRow, snapshot: Snapshot): LoadedWork | null {
  const capability = getCapability(job.capability_key);
  const route = targetOf(capability, job.provider, job.model, job.pricing.account?.model);
  if (!route && !("local" in capability.execute)) return null;
  const input = capability.input.parse(snapshot.input);
  const stages = job.pricing.stages && toStages(job.pricing.stages, capability, input);
  if (stages === null) return null;
  return {
    job,
    capability,
    input,
    ...(stages ? { stages } : {}),
    inputHash: inputHashOf(snapshot.input),
    route,
    hasReader: Boolean(snapshot.readerDelivery),
    snapshot,
  };
}

/** Null: a model of theirs is gone. */
function toStages(estimates: StageEstimate[], capability: Capability, input: unknown): JobStage[] | null {
  const named = new Map(stagesOf(capability, input).map((stage) => [stage.name, stage]));
  const stages: JobStage[] = [];
  for (const estimate of estimates) {
    const stage = named.get(estimate.name);
    const own = stage && stageAsCapability(capability, stage);
    const route =
      own && targetOf(own, estimate.route.provider, estimate.route.model, estimate.account?.model);
    if (!stage || !own || !route) return null;
    stages.push({ stage, capability: own, route, estimate });
  }
  return stages;
}

/** Makes the call of a job again: the same as when it was planned. Throws a Fault where one of its sources is gone. */
export async function makeReady(
  work: LoadedWork,
  /** What the stages before it have kept. */
  kept: OutputFile[] = [],
): Promise<ReadyWork> {
  const { job, capability, input, route, snapshot } = work;
  const execution = capability.execute;
  if ("local" in execution || !route || !snapshot)
    throw new Error(`the call of ${capability.key} cannot be made`);
  const options = callOptions(snapshot);
  const material = await materialize(reachOf(job), capability, { input, options, kept });
  const maker = {
    credentialId: (work.stage?.estimate ?? job.pricing).account?.credentialId,
    provider: route.provider.name,
    model: route.model.id,
  };
  const { call } = asFault(() => forMaker(execution.call(input, options, route.model, material), maker));
  return { ...work, route, call, material };
}
