import type { z } from "zod";
import type { AdapterChoice } from "@/server/contract/adapters";
import type { Json } from "@/server/platform/durable/step";
import type { ModelFacts, PortName, Ports, Usage } from "@/server/providers/define";
import type { Conversation } from "./conversation";

export type ExecutionMode = "invoke_sync" | "invoke_stream" | "job_async";
export type Modality =
  | "text"
  | "image"
  | "video"
  | "audio"
  | "mesh"
  | "embedding"
  | "moderation"
  | "infrastructure";

export type InputConstraint = {
  measurement: "characters" | "tokens";
  max?: number;
  overflow: "reject";
  semantic: boolean;
  byModel?: Record<string, { max: number }>;
};

/** Envelope features that reach the provider beside the input. */
export type CallOptions = {
  responseSchema?: Record<string, Json>;
  /** How a provider is told of the schema, wherever that was given. */
  responseSchemaName?: string;
  responseSchemaStrict?: boolean;
  temperature?: number;
  reasoningIntent?: "omit" | "economy" | "balanced" | "deep" | "maximum";
  tools?: Record<string, Json>[];
  conversation?: Conversation;
  /** The run's own cap on output, where it is lower than the capability's bound (a synchronous run). */
  maxOutputTokens?: number;
};

export type OutputFile = {
  bytes: Uint8Array;
  mediaType: string;
  kind: string;
  filename: string;
  label?: string;
  variantIndex?: number;
  sliceCellId?: string;
  slotStatus?: string;
  facts?: FileFacts;
};

/** What was measured of a file: it is in its row, in its entry of the typed output, and on receipts. */
export type FileFacts = { durationMs?: number };

/** What an execution yields: JSON, files, or both. */
export type Outcome<O> = {
  typedOutput: O;
  files: OutputFile[];
  /** How the files were made, for the receipt. */
  media?: Record<string, Json>;
};

/** An artifact of the project that an input names, and what it may be. */
export type Source = {
  artifactId: string;
  /** Where the input names it, from `input` on: `["input", "source", "artifactId"]`. */
  field: (string | number)[];
  mediaTypes: readonly string[];
  maxBytes: number;
};
/** A source as it was read; by its hash it is the same whenever it is read. */
export type SourceFile = {
  artifactId: string;
  bytes: Uint8Array;
  mediaType: string;
  filename: string | null;
  sha256: string;
};

/**
 * One call before the main one, of another port as may be: what it makes is kept as artifacts of the job, and the calls
 * after it are made from that. It is an attempt of its own, and never made twice.
 */
export type Stage<I, M> = {
  /** What its attempt is called, in the receipt and to the reviewer. */
  name: string;
  /** Only made where what was kept before says so; the hold has room for it. Absent: always. */
  isNeeded?(input: I, kept: OutputFile[]): boolean;
  execute: { [P in PortName]: StageExecution<I, P, M> }[PortName];
};
type StageExecution<I, P extends PortName, M> = Pick<
  PortExecution<I, unknown, P, M>,
  "port" | "accepts" | "fits" | "prefers" | "call" | "result" | "refine" | "bounds"
>;

/** What a call was made with, and what it used as far as the provider says. */
export type Answered<M> = { material: M; model: ModelFacts; usage?: Usage | null };

/** Work done by a provider port: pure mappings. `materialize`, `call` and `result` may throw `CapabilityFault`. */
type PortExecution<I, O, P extends PortName, M> = {
  port: P;
  /** Does this model satisfy the request? Routing asks before quoting. */
  accepts?(input: I, model: ModelFacts): boolean;
  /**
   * Does this model follow the input's hints whole? One that does goes before its equals, another one follows them as far as
   * it can, which the receipt says. A pinned model has to.
   */
  fits?(input: I, model: ModelFacts): boolean;
  /** How well a model fits among those that satisfy: the higher goes first; equals stay in the order they are listed. */
  prefers?(input: I, model: ModelFacts): number;
  /** Whose account the input itself asks for. */
  credentialSource?(input: I): "platform" | "customer" | undefined;
  /** Artifacts the input names; a missing, too large or unfit one is refused at its field. */
  sources?(input: I): Source[];
  /**
   * What has to be waited for before there can be a call: sources read, schemas compiled. Done when the request is planned
   * and again when it runs, so the same input must give the same. May throw `InputFault`.
   */
  materialize?(input: I, files: SourceFile[], options?: CallOptions, kept?: OutputFile[]): Promise<M>;
  /** The calls that come before this one, in their order. Each sees what those before it kept; when the request is planned, nothing is. */
  stages?(input: I): Stage<I, M>[];
  /** Does a person look at what the stages kept before the main call is made? */
  review?(input: I): { reason: "turnaround_review"; step: string } | null;
  call(input: I, options: CallOptions, model: ModelFacts, material: M): Ports[P]["call"];
  result(result: Ports[P]["result"], input: I, call: Answered<M>): Outcome<O> | Promise<Outcome<O>>;
  /** Is the answer's text JSON? It is read, and streamed, without thinking and fences around it. */
  isJson?(material: M): boolean;
  /** What becomes of an answer that `result` finds unfit. Absent: the execution fails with it. */
  repair?: Repair<I, Ports[P]["call"], Ports[P]["result"], M>;
  /**
   * Processing of the provider's files, in durable runs only; null: none for this input. They are stored first: the work may
   * run again in another process and must give the same, and its failure loses nothing.
   */
  refine?(input: I, model: ModelFacts): ((files: OutputFile[]) => Promise<Outcome<O>>) | null;
  /** What `call` and `refine` will do for this input, to be looked at before: sizes, cells, methods. */
  preview?(input: I, model: ModelFacts): Record<string, Json>;
  /** The cap on what one run may use, for quotes and holds. */
  bounds(
    input: I,
    model: ModelFacts,
  ): Pick<Usage, "outputTokens" | "images" | "durationMs" | "characters" | "meshes" | "requests">;
};

/**
 * An unfit answer may be given back once, with what is wrong with it, inside the same attempt; never of a stream, whose text
 * was reported already.
 */
export type Repair<I, C, R, M> = {
  /** Decided before quoting: the estimate and the hold then cover both calls. */
  mayBeNeeded(input: I, model: ModelFacts, material: M): boolean;
  /** The second call. What it says besides the first call and its answer has at most `MAX_REPAIR_BYTES`. */
  call(call: C, answer: R, unfit: UnfitAnswer): C;
};
export const MAX_REPAIR_BYTES = 4_096;

/** Name of a schema at providers if its caller gives none. */
export const SCHEMA_NAME = "answer";

/** Work done here, without a provider; free. Of a durable run it may be done again in another process. */
type LocalExecution<I, O> = {
  local: true;
  sources?(input: I): Source[];
  run(input: I, signal: AbortSignal, files: SourceFile[]): Promise<Outcome<O>>;
  engine: string;
};

export type Execution<I, O, M> =
  | { [P in PortName]: PortExecution<I, O, P, M> }[PortName]
  | LocalExecution<I, O>;

/** A refusal decided by the capability itself, with a code of the error table. */
export class CapabilityFault extends Error {
  override readonly name = "CapabilityFault";
  constructor(
    readonly code: string,
    message: string,
    readonly details: Record<string, Json> = {},
  ) {
    super(message);
  }
}

/** Part of a request is not what it must be; refused with 422 at its field, from the body on: `["input", "schema"]`. */
export class InputFault extends Error {
  override readonly name = "InputFault";
  constructor(
    readonly field: (string | number)[],
    message: string,
  ) {
    super(message);
  }
}

/**
 * An answer that does not fit the request. Its message says so without a word of the answer; the findings, which may quote
 * it, are for the model alone.
 */
export class UnfitAnswer extends CapabilityFault {
  constructor(
    message: string,
    readonly findings: string[],
    details: Record<string, Json> = {},
    /** Its code where the answer was given back once and came again unfit. */
    readonly codeAfterRepair: string = "StructuredOutputRepairFailed",
  ) {
    super("StructuredOutputInvalid", message, details);
  }
}

export type CapabilityDefinition<I, O, M = never> = {
  key: string;
  title: string;
  description: string;
  modality: Modality;
  family: string;
  category: string;
  modes: ExecutionMode[];
  input: z.ZodType<I>;
  output: z.ZodType<O>;
  inputConstraints: Record<string, InputConstraint>;
  features: Record<string, Json>;
  constraints?: Record<string, Json>;
  inputMediaTypes: string[];
  outputKind: "text" | "structured" | "artifact";
  outputMediaType: string;
  intentExamples: string[];
  synonyms: string[];
  taskTags: string[];
  /** Of the managed first-use allowance. */
  trialEligible: boolean;
  readySummary: string;
  /** Limits of a synchronous run; absent: none. */
  sync?: { maxOutputTokens?: number; seconds: number };
  /** Deadlines of a durable run, in seconds. */
  durable?: {
    defaultQueueSeconds: number;
    maxQueueSeconds: number;
    defaultExecutionSeconds: number;
    maxExecutionSeconds: number;
  };
  /** Does a person usually have to act while it runs, and why? Absent: no. */
  interaction?: { typicallyRequired: boolean; reason: string };
  /**
   * The LoRA adapters an input names; undefined: the project's default. What they are, the domain finds out, and it adds them
   * to the call. Absent: the capability takes none.
   */
  adapters?(input: I): AdapterChoice[] | undefined;
  /** How many variants were asked for; absent: the capability has none. */
  variants?(input: I): number;
  examples: { title: string; input: z.input<z.ZodType<I>>; output?: Json }[];
  execute: Execution<I, O, M>;
};

/** What the registry holds. Which input it takes is forgotten: its functions get what its own schema has parsed, nothing else. */
export type Capability = CapabilityDefinition<unknown, unknown, unknown>;

/** Deadlines of durable runs, in seconds: two hours in the queue, and what the work itself may take. */
export const durable = (defaultExecutionSeconds: number, maxExecutionSeconds = 600) => ({
  defaultQueueSeconds: 7200,
  maxQueueSeconds: 7200,
  defaultExecutionSeconds,
  maxExecutionSeconds,
});

/** A field that is measured in characters and never trimmed; `byModel`: what models take that differ. */
export const inCharacters = (max: number, byModel?: Record<string, number>): InputConstraint => ({
  measurement: "characters",
  max,
  overflow: "reject",
  semantic: true,
  ...(byModel && {
    byModel: Object.fromEntries(Object.entries(byModel).map(([id, most]) => [id, { max: most }])),
  }),
});

/** Feature flags of what a provider's model answers. */
export const BY_MODEL = {
  providerBacked: true,
  modelBacked: true,
  deterministic: false,
  executionClass: "provider",
} as const;

/**
 * Defines one capability: words, schemas, modes, examples, and either a port with pure mappings or a local run.
 * No price list, vendor, route or database.
 */
export function defineCapability<I, O, M = undefined>(definition: CapabilityDefinition<I, O, M>): Capability {
  const { execute, key, modes } = definition;
  if ("port" in execute && execute.stages && (execute.refine || modes.some((mode) => mode !== "job_async")))
    throw new Error(`${key} has stages: it runs as a durable job, and its last files stay as they come`);
  return definition;
}

/** A stage as a capability of its own: routed, priced and called like any other, with what the whole one makes ready. */
export function stageAsCapability(capability: Capability, stage: Stage<unknown, unknown>): Capability {
  const { execute } = capability;
  if ("local" in execute) throw new Error(`${capability.key} has no stages`);
  const { sources, materialize } = execute;
  return {
    ...capability,
    execute: {
      ...stage.execute,
      ...(sources ? { sources } : {}),
      ...(materialize ? { materialize } : {}),
    }, // of one port each; which one is the stage's own matter
  };
}
