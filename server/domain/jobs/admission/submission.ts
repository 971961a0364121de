import type { Conversation } from "@/server/capabilities/conversation";
import type { Capability } from "@/server/capabilities/define";
import type { RawEnvelope } from "@/server/contract/envelope";
import { access, type DeferredAccess } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { embedInput, ownKeyOf } from "@/server/domain/embeds";
import {
  type Envelope,
  given,
  mintKey,
  normalizeEnvelope,
  type SentKey,
  settleKey,
} from "@/server/domain/envelope";
import { storedInputHashOf } from "@/server/domain/inputs";
import type { Json } from "@/server/platform/durable/step";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { canonicalText, contentOf, sha256Hex } from "@/server/platform/text/canonical";
import { isObject } from "@/server/platform/text/json";
import { NO_REPEAT, type RepeatColumns, repeatColumns } from "./repeats";

export type SubmissionKind = "jobs" | "invoke";

/** A request in its canonical form, with its project and environment. */
export type CanonicalRequest = {
  project: DeferredAccess;
  environment: string;
  kind: SubmissionKind;
  capability: Capability;
  envelope: Envelope<"invoke">;
  key: SentKey;
  /** The canonical request, whose hash decides whether two requests under one key are the same. */
  content: string;
  contentHash: string;
  requestHash: string;
  /**
   * Every hash under which the same request may be stored, including that of 0.2.0 if it read fewer members.
   */
  knownAs: readonly string[];
  /** The hash that is compared once the stored input is gone; null if the request names no stored input. */
  referenceHash: string | null;
  /** The columns that identify repeats of this request. */
  repeat: RepeatColumns;
} & InternalTerms;

/** Parts of a request outside its envelope, which only our own code sets. */
export type InternalTerms = {
  conversation?: Conversation | undefined;
  retryOf?: string | undefined;
  /**
   * Paths of snapshot members that 0.2.0 did not read from this request. A key that 0.2.0 stored has the hash
   * of the request without them.
   */
  newMembers?: readonly string[] | undefined;
};

/** A request as received. */
export type ReceivedRequest = {
  kind: SubmissionKind;
  capability: Capability;
  raw: RawEnvelope;
  idempotencyHeader?: string | SentKey | undefined;
  beside?: InternalTerms | undefined;
};

/** Normalizes a request and finds its project, key and repeat columns. Does not look up a stored input. */
async function readEnvelope(ctx: Ctx, { kind, capability, raw, idempotencyHeader }: ReceivedRequest) {
  const envelope = normalizeEnvelope(kind, raw) as Envelope<"invoke">; // only executionMode differs
  if (envelope.executionMode === "ProductionWorkflow")
    refuse(
      "executionMode",
      "ProductionWorkflow is not supported. Use RequestResponse, Stream or DurableJob.",
    );
  checkMode(kind, capability, envelope);
  const sent = settleKey(envelope.idempotencyKey, idempotencyHeader);
  const key = ownKeyOf(ctx, sent ?? { key: mintKey(kind) });
  const project = await access.authorize(ctx, "jobs:submit", { place: envelope.context });
  const { environment } = project;
  const repeat = sent === undefined ? repeatColumns(ctx, project.id, environment) : NO_REPEAT;
  return { kind, capability, envelope, project, environment, key, repeat, isKeyed: sent !== undefined };
}

/** Reads a request together with its input, stored or inline. */
export async function read(ctx: Ctx, asked: ReceivedRequest): Promise<CanonicalRequest> {
  const { kind, capability, raw, beside = {} } = asked;
  const { isKeyed, ...found } = await readEnvelope(ctx, asked);
  const { envelope, project } = found;
  envelope.input = await embedInput(ctx, project, {
    capabilityKey: capability.key,
    asked: envelope,
    isInline: raw.input !== undefined,
  });
  checkReader(kind, capability, envelope);
  checkSchemaMembers(envelope);
  const snapshot = snapshotOf(found, beside);
  const { text: content, sha256: contentHash } = await contentOf(snapshot);
  const former = isKeyed ? await formerHashOf(snapshot, beside) : null; // a minted key is new
  return {
    ...found,
    ...beside,
    content,
    contentHash,
    requestHash: `v1:${contentHash}`,
    knownAs: [contentHash, ...(former === null ? [] : [former])],
    referenceHash: envelope.inputPayloadRef
      ? referenceHashOf(snapshot, (await contentOf(envelope.input)).sha256)
      : null,
  };
}

/**
 * Reads a request by the hash of its stored input. The hash outlives the input and suffices to find the job
 * that the request was admitted as. Null if the request names no stored input, its hash is unknown, or an
 * inline input differs from it.
 */
export async function readByReference(ctx: Ctx, asked: ReceivedRequest) {
  const { raw, beside = {} } = asked;
  if (!raw.inputPayloadRef) return null;
  const found = await readEnvelope(ctx, asked);
  const { envelope, project } = found;
  const sha256 = await storedInputHashOf(project.id, envelope.inputPayloadRef ?? "");
  if (sha256 === null) return null;
  if (raw.input !== undefined && (await contentOf(envelope.input)).sha256 !== sha256) return null;
  const snapshot = snapshotOf(found, beside);
  return { ...found, referenceHash: referenceHashOf(snapshot, sha256) };
}

/**
 * Hashes a request with its input replaced by the input's hash. Such hashes are compared once the stored
 * input is gone.
 */
export const referenceHashOf = (snapshot: Record<string, Json>, sha256: string) =>
  sha256Hex(canonicalText({ ...snapshot, input: sha256 }));

/** The hash that 0.2.0 gave this request; null if it is the same. */
async function formerHashOf(
  snapshot: Record<string, Json>,
  { newMembers = [] }: InternalTerms,
): Promise<string | null> {
  const former = newMembers.reduce((each, path) => without(each, path.split(".")), snapshot);
  return former === snapshot ? null : (await contentOf(former)).sha256;
}

/**
 * Removes the member at a path and the objects that this leaves empty. Returns the same object if it has no
 * such member.
 */
function without(value: Record<string, Json>, [first = "", ...rest]: string[]): Record<string, Json> {
  const { [first]: inner, ...others } = value;
  if (inner === undefined) return value;
  if (rest.length === 0) return others;
  if (!isObject(inner)) return value;
  const kept = without(inner, rest);
  if (kept === inner) return value;
  return Object.keys(kept).length === 0 ? others : { ...others, [first]: kept };
}

/**
 * The canonical submitted request: it is hashed, compared under one idempotency key and kept as the snapshot.
 */
function snapshotOf(
  {
    capability,
    envelope,
    project,
    environment,
  }: Pick<CanonicalRequest, "capability" | "envelope" | "project" | "environment">,
  { conversation }: InternalTerms,
): Record<string, Json> {
  const {
    idempotencyKey: _key,
    // The same content by reference is the same request.
    inputPayloadRef: _ref,
    execution,
    context,
    executionMode,
    ...rest
  } = envelope;
  const { quoteId: _quote, estimateId: _estimate, executionConstraints, ...options } = execution;
  const snapshot: Record<string, unknown> = {
    capability: capability.key,
    ...given(rest),
    ...given({ conversation }),
    // Streaming changes the hash; naming the default mode does not.
    ...(executionMode === "Stream" ? { executionMode } : {}),
    context: { ...context, projectId: project.id, environment },
    execution: { ...given(options), executionConstraints: given(executionConstraints) },
  };
  return snapshot as Record<string, Json>; // parsed JSON
}

const refuse = (field: string, msg: string): never => {
  throw new ValidationFault([{ loc: ["body", field], msg, type: "unsupported" }]);
};

/**
 * Only a durable job that writes plain text has partial output: output that a schema or a tool shapes is
 * known only at its end.
 */
function checkReader(kind: SubmissionKind, capability: Capability, envelope: Envelope<"invoke">) {
  if (!envelope.readerDelivery) return;
  const only = (what: string) => refuse("readerDelivery", `Partial output ${what}.`);
  if (kind === "invoke")
    only(`needs a durable job. Use POST /v1/capabilities/${capability.key}/jobs, or executionMode Stream`);
  if (!capability.key.startsWith("text.") || capability.outputKind !== "text")
    only(`needs a capability that writes plain text, and ${capability.key} does not`);
  if (envelope.responseSchema || envelope.input.responseSchema)
    only("cannot be combined with a responseSchema");
  if (envelope.toolSchemas?.length) only("cannot be combined with toolSchemas");
}

/** The name and the strictness of a schema need a schema. */
function checkSchemaMembers({
  responseSchema,
  responseSchemaName: name,
  responseSchemaStrict: strict,
  input,
}: Envelope<"invoke">) {
  if (responseSchema || input.responseSchema) return;
  const only = "This needs a responseSchema. Send one, or leave this field out.";
  if (typeof name === "string") refuse("responseSchemaName", only);
  if (typeof strict === "boolean") refuse("responseSchemaStrict", only);
}

/** Refuses a capability that has no durable runs. */
export function requireDurable({ key, modes }: Capability) {
  const invoke = `/v1/capabilities/${key}/invoke`;
  if (!modes.includes("job_async"))
    fail("USE_INVOKE", `${key} runs synchronously. Use POST ${invoke}.`, { invoke });
}

function checkMode(kind: "jobs" | "invoke", capability: Capability, envelope: Envelope<"invoke">) {
  const submit = `/v1/capabilities/${capability.key}/jobs`;
  if (kind === "jobs") requireDurable(capability);
  if (kind === "invoke") {
    if (!capability.modes.includes("invoke_sync"))
      fail("USE_JOBS", `${capability.key} runs as a durable job. Use POST ${submit}.`, { submit });
    if (envelope.executionMode === "DurableJob")
      fail("USE_JOBS", `A durable job is submitted with POST ${submit}.`, { submit });
    if (envelope.executionMode === "Stream" && !capability.modes.includes("invoke_stream")) {
      refuse("executionMode", `${capability.key} does not support streaming.`);
    }
  }
}
