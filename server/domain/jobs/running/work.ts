import type { Conversation } from "@/server/capabilities/conversation";
import {
  type Capability,
  type OutputFile,
  type Stage,
  stageAsCapability,
} from "@/server/capabilities/define";
import { findPlannedTarget, getCapability, type Route } from "@/server/domain/catalog";
import { openContent } from "@/server/domain/content";
import type { Ctx } from "@/server/domain/ctx";
import type { Lease } from "@/server/domain/executions";
import {
  callOptions,
  forMaker,
  materialize,
  requestStages,
  type StageEstimate,
  withFaults,
} from "@/server/domain/quotes";
import { payload } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import type { Json } from "@/server/platform/durable/step";
import { canonicalText, sha256Hex } from "@/server/platform/text/canonical";
import type { AnyCall } from "@/server/providers/define";
import { names, pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
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

/** A job with its request, which was read from its row or has just been admitted here. */
export type LoadedWork = {
  job: JobRow;
  capability: Capability;
  input: unknown;
  inputHash: string;
  /** Null if the capability runs in this process. */
  route: Pick<Route, "provider" | "model"> | null;
  /** True if the text is streamed to a reader. */
  hasReader: boolean;
  /** The stored request; absent in the process that admitted a synchronous execution. */
  snapshot?: Snapshot;
  /** The calls before the main one; absent for a job that makes one call. */
  stages?: JobStage[];
  /** The stage whose call this is the work of; absent for the main call. */
  stage?: JobStage;
  /** Present in the process that admitted a synchronous execution with a call to a provider. */
  sync?: Sync;
};

/** How a synchronous execution differs from a durable job. */
type Sync = {
  /** The call as it was planned, because the request may not be stored. */
  ready: Pick<ReadyWork, "route" | "call" | "material">;
  /** The caller accepts an answer that was cut off at its limit, or that calls tools. */
  takesAsSaid: boolean;
  /** A refused call may be sent again until this time. */
  waitsUntil: Date;
};

/** One turn of an execution: its work and its open attempt, under a lease that this process holds. */
export type JobTurn = { ctx: Ctx; work: LoadedWork; row: AttemptRow; lease: Lease };

/** A call before the main one, with the terms that admission fixed for it. */
export type JobStage = {
  stage: Stage<unknown, unknown>;
  capability: Capability;
  route: NonNullable<LoadedWork["route"]>;
  estimate: StageEstimate;
};

/** Work with the call that its provider receives. */
export type ReadyWork = LoadedWork & {
  route: NonNullable<LoadedWork["route"]>;
  call: AnyCall;
  /** The capability prepared this for its call and its result. */
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

/** The hash of the canonical input alone; the receipt names the request by it. */
const inputHashOf = (input: unknown) => sha256Hex(canonicalText(input as Json)); // inputs are parsed JSON

const readRequest = statement("payload.read.request", {
  params: { jobId: text },
  row: pick(payload, "id content is_sealed"),
  sql: "SELECT id, content, is_sealed FROM payload WHERE job_id = $jobId AND kind = 'request'",
});

/** The input hash of a job whose request is read back; null if the content was not kept. */
export async function storedInputHash(jobId: string): Promise<string | null> {
  const request = await readRequest.first(pool, { jobId });
  const content = request && openContent(request);
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

/** Reads a job without any check of rights, for the engine itself; null if there is none. */
export const readJob = (jobId: string): Promise<JobRow | null> => ofId.first(pool, { jobId });

/** A job with its request; `work` is null if the content was pruned or the model is gone. */
type Loaded = { job: JobRow; work: LoadedWork | null };

/** Reads a job together with its request; null if there is no such job. */
export async function loadWork(jobId: string): Promise<Loaded | null> {
  const row = await withRequest.first(pool, { jobId });
  return row && toLoaded(row);
}

/** Converts a row that was read with its request. */
export function toLoaded(job: JobWithRequest): Loaded {
  const content = openContent({ id: job.payload_id, content: job.content, is_sealed: job.is_sealed });
  return { job, work: content === null ? null : toWork(job, JSON.parse(content)) };
}

function toWork(job: JobRow, snapshot: Snapshot): LoadedWork | null {
  const capability = getCapability(job.capability_key);
  const route = findPlannedTarget(capability, job.provider, job.model, job.pricing.account?.model);
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

/** Null if the model of a stage is gone. */
function toStages(estimates: StageEstimate[], capability: Capability, input: unknown): JobStage[] | null {
  const named = new Map(requestStages(capability, input).map((stage) => [stage.name, stage]));
  const stages: JobStage[] = [];
  for (const estimate of estimates) {
    const stage = named.get(estimate.name);
    const own = stage && stageAsCapability(capability, stage);
    const route =
      own && findPlannedTarget(own, estimate.route.provider, estimate.route.model, estimate.account?.model);
    if (!stage || !own || !route) return null;
    stages.push({ stage, capability: own, route, estimate });
  }
  return stages;
}

/**
 * Makes the call of a job again, equal to the planned one. Throws a Fault or ValidationFault if one of its
 * sources is gone.
 */
export async function makeReady(
  work: LoadedWork,
  /** The files that the earlier stages have stored. */
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
  const { call } = withFaults(() => forMaker(execution.call(input, options, route.model, material), maker));
  return { ...work, route, call, material };
}
