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

/** Parts of the request beside its input that the provider receives. */
export type CallOptions = {
  responseSchema?: Record<string, Json>;
  /** Name and strictness of the schema at the provider, wherever the schema was given. */
  responseSchemaName?: string;
  responseSchemaStrict?: boolean;
  temperature?: number;
  reasoningIntent?: "omit" | "economy" | "balanced" | "deep" | "maximum";
  tools?: Record<string, Json>[];
  conversation?: Conversation;
  /** The run's own limit on output, if it is lower than the capability's (a synchronous run). */
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

/** Facts measured in a file. They are stored in its row, and shown in its entry of the typed output and on receipts. */
export type FileFacts = { durationMs?: number };

/** The result of an execution: JSON, files, or both. */
export type RunOutcome<O> = {
  typedOutput: O;
  files: OutputFile[];
  /** How the files were made, for the receipt. */
  media?: Record<string, Json>;
};

/** An artifact of the project that an input names, with the types and size that are allowed. */
export type Source = {
  artifactId: string;
  /** The path of the field that names it, beginning with `input`: `["input", "source", "artifactId"]`. */
  field: (string | number)[];
  mediaTypes: readonly string[];
  maxBytes: number;
};
/** A source that was read. Its hash guarantees the same bytes at every read. */
export type SourceFile = {
  artifactId: string;
  bytes: Uint8Array;
  mediaType: string;
  filename: string | null;
  sha256: string;
};

/**
 * One call before the main one, possibly of another port. Its files are kept as artifacts of the job and are the
 * material of later calls. The call is an attempt of its own, and is not made again once it is done.
 */
export type Stage<I, M> = {
  /** Name of its attempt, in the receipt and for the reviewer. */
  name: string;
  /**
   * Decides by the files kept so far whether the call is made; the hold covers it in either case. If absent, the call is
   * always made.
   */
  isNeeded?(input: I, kept: OutputFile[]): boolean;
  execute: { [P in PortName]: StageExecution<I, P, M> }[PortName];
};
type StageExecution<I, P extends PortName, M> = Pick<
  PortExecution<I, unknown, P, M>,
  "port" | "accepts" | "fits" | "prefers" | "call" | "result" | "refine" | "bounds"
>;

/** Material and model of a call, and its usage as far as the provider reports it. */
type Answered<M> = { material: M; model: ModelFacts; usage?: Usage | null };

/** Work done by a provider port, as pure mappings. `materialize`, `call` and `result` can throw `CapabilityFault`. */
type PortExecution<I, O, P extends PortName, M> = {
  port: P;
  /** Can this model serve the request? Routing asks before quoting. */
  accepts?(input: I, model: ModelFacts): boolean;
  /**
   * Can this model follow the input's hints completely? Such a model goes before its equals; another follows them as
   * far as it can, and the receipt reports that. A pinned model must fit.
   */
  fits?(input: I, model: ModelFacts): boolean;
  /** Rank among models that routing finds equal otherwise: higher goes first, and equal ones keep their listed order. */
  prefers?(input: I, model: ModelFacts): number;
  /** The account that the input itself asks for. */
  credentialSource?(input: I): "platform" | "customer" | undefined;
  /** Artifacts that the input names. One that is missing, too large or of the wrong type is refused at its field. */
  sources?(input: I): Source[];
  /**
   * Asynchronous preparation of a call, such as reading sources and compiling schemas. It runs when the request is
   * planned and again when it runs, so equal input must give an equal result. It can throw `InputFault`.
   */
  materialize?(input: I, files: SourceFile[], options?: CallOptions, kept?: OutputFile[]): Promise<M>;
  /** Calls before this one, in order. Each sees the files that earlier ones kept; during planning there are none. */
  stages?(input: I): Stage<I, M>[];
  /** Must a person review the stages' files before the main call is made? Null if not. */
  review?(input: I): { reason: "turnaround_review"; step: string } | null;
  call(input: I, options: CallOptions, model: ModelFacts, material: M): Ports[P]["call"];
  result(result: Ports[P]["result"], input: I, call: Answered<M>): RunOutcome<O> | Promise<RunOutcome<O>>;
  /** Is the answer's text JSON? If so, reasoning and code fences around it are removed when it is read or streamed. */
  isJson?(material: M): boolean;
  /** The second try after an answer that `result` finds unfit; without it, the execution fails. */
  repair?: Repair<I, Ports[P]["call"], Ports[P]["result"], M>;
  /**
   * Processing of the provider's files, in durable runs only; null if the input needs none. The files are stored first,
   * so a failure loses nothing. Another process can repeat the work, which must give the same result.
   */
  refine?(input: I, model: ModelFacts): ((files: OutputFile[]) => Promise<RunOutcome<O>>) | null;
  /** Sizes, cells and methods that `call` and `refine` will use for this input, for display before a run. */
  preview?(input: I, model: ModelFacts): Record<string, Json>;
  /** Maximum usage of one run, for quotes and holds. */
  bounds(
    input: I,
    model: ModelFacts,
  ): Pick<Usage, "outputTokens" | "images" | "durationMs" | "characters" | "meshes" | "requests">;
};

/**
 * Returns an unfit answer to the model once, with its flaws, within the same attempt. Streams are excluded, because
 * their text was already delivered.
 */
export type Repair<I, C, R, M> = {
  /** Decided before quoting, so that estimate and hold cover both calls. */
  mayBeNeeded(input: I, model: ModelFacts, material: M): boolean;
  /** Builds the second call. Beyond the first call and its answer it adds at most `MAX_REPAIR_BYTES`. */
  call(call: C, answer: R, unfit: UnfitAnswer): C;
};
export const MAX_REPAIR_BYTES = 4_096;

/** Name of a schema at providers if the caller gives none. */
export const SCHEMA_NAME = "answer";

/** Work done in our own process, without a provider and free of charge. Another process can repeat a durable run. */
type LocalExecution<I, O> = {
  local: true;
  sources?(input: I): Source[];
  run(input: I, signal: AbortSignal, files: SourceFile[]): Promise<RunOutcome<O>>;
  engine: string;
};

export type Execution<I, O, M> =
  | { [P in PortName]: PortExecution<I, O, P, M> }[PortName]
  | LocalExecution<I, O>;

/** A refusal by the capability itself, with a code of the error table. */
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

/**
 * An invalid part of a request, refused with 422 at its field. The path begins with the member of the body: `["input",
 * "schema"]`.
 */
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
 * An answer that does not fit the request. Its message quotes nothing of the answer; the findings may, and only the
 * model sees them.
 */
export class UnfitAnswer extends CapabilityFault {
  constructor(
    message: string,
    readonly findings: string[],
    details: Record<string, Json> = {},
    /** The code if the answer is still unfit after a repair. */
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
  /** Can the one-time allowance pay for it? */
  trialEligible: boolean;
  readySummary: string;
  /** Limits of a synchronous run; absent if the capability has no limits of its own. */
  sync?: { maxOutputTokens?: number; seconds: number };
  /** Deadlines of a durable run, in seconds. */
  durable?: {
    defaultQueueSeconds: number;
    maxQueueSeconds: number;
    defaultExecutionSeconds: number;
    maxExecutionSeconds: number;
  };
  /** States if a person must usually act during a run, and why or when. Absent if a run never waits for a person. */
  interaction?: { typicallyRequired: boolean; reason: string };
  /**
   * LoRA adapters that an input names; undefined means the project's default. The domain resolves them and adds them to
   * the call. Absent if the capability accepts none.
   */
  adapters?(input: I): AdapterChoice[] | undefined;
  /** The number of variants requested; absent if the capability has no variants. */
  variants?(input: I): number;
  examples: { title: string; input: z.input<z.ZodType<I>>; output?: Json }[];
  execute: Execution<I, O, M>;
};

/**
 * A capability in the registry. Its input type is erased, which is safe because its functions receive only input that
 * its own schema has parsed.
 */
export type Capability = CapabilityDefinition<unknown, unknown, unknown>;

/** Deadlines of durable runs, in seconds: two hours in the queue, and the given time for the work. */
export const durable = (defaultExecutionSeconds: number, maxExecutionSeconds = 600) => ({
  defaultQueueSeconds: 7200,
  maxQueueSeconds: 7200,
  defaultExecutionSeconds,
  maxExecutionSeconds,
});

/** A field measured in characters and never truncated. `byModel` has the limits of models that differ. */
export const inCharacters = (max: number, byModel?: Record<string, number>): InputConstraint => ({
  measurement: "characters",
  max,
  overflow: "reject",
  semantic: true,
  ...(byModel && {
    byModel: Object.fromEntries(Object.entries(byModel).map(([id, most]) => [id, { max: most }])),
  }),
});

/** Feature flags of capabilities that a provider's model answers. */
export const BY_MODEL = {
  providerBacked: true,
  modelBacked: true,
  deterministic: false,
  executionClass: "provider",
} as const;

/**
 * Defines one capability: texts, schemas, modes and examples, with either a port and pure mappings or a local run.
 * Prices, vendors, routes and database access do not belong here. Throws if a capability with stages also refines files
 * or has a mode other than `job_async`.
 */
export function defineCapability<I, O, M = undefined>(definition: CapabilityDefinition<I, O, M>): Capability {
  const { execute, key, modes } = definition;
  if ("port" in execute && execute.stages && (execute.refine || modes.some((mode) => mode !== "job_async")))
    throw new Error(`${key} has stages: it runs as a durable job, and its last files stay as they come`);
  return definition;
}

/**
 * A stage as a capability of its own, so that it is routed, priced and called like any other. It keeps the sources and
 * material of the whole. Throws for a local capability.
 */
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
    }, // the stage's own port makes this a valid member of the union
  };
}
