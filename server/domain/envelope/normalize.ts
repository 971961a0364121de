import { randomBytes } from "node:crypto";
import type { z } from "zod";
import {
  Budget,
  Context,
  ExecutionConstraints,
  ExecutionOptions,
  InvokeRequest,
  JobRequest,
  QuoteRequest,
  type RawEnvelope,
  Sampling,
} from "@/server/contract/envelope";
import { fail, ValidationFault, type ValidationIssue } from "@/server/platform/errors/errors";
import { toValidationIssues as toWireIssues } from "@/server/platform/errors/errors-wire";
import { env } from "@/server/platform/settings/env";
import { charactersOf } from "@/server/platform/text/characters";
import { isObject } from "@/server/platform/text/json";
import { said } from "./given";
import { MOST_KEY_CHARACTERS, type SentKey } from "./key-spellings";
import { type AcceptedFields, refuseUnknown } from "./unknown";

type Json = z.core.util.JSONType;
type Fields = Record<string, Json>;

const OPTION_FIELDS = ["billingMode", "credentialSource", "quoteId", "estimateId", "maximumCharge"];
const CONSTRAINT_FIELDS = [
  "preferredModel",
  "autoSelect",
  "providerPin",
  "maxCostUsd",
  "budgetEnforcement",
  "maxDurationSeconds",
  "timeoutSeconds",
];
/** Fields that are accepted at the root too. */
const LIFTED = [...CONSTRAINT_FIELDS, ...OPTION_FIELDS];
/** The older spellings of a quote's input. */
const QUOTE_SHIMS = ["options", "model"];
const ENVELOPES = { jobs: JobRequest, invoke: InvokeRequest, quote: QuoteRequest };
export type EnvelopeKind = keyof typeof ENVELOPES;
export type Envelope<K extends EnvelopeKind> = z.output<(typeof ENVELOPES)[K]>;

/** The fields of each kind of request by their place, and those that its refusals list for the root. */
const FIELDS_OF = { jobs: fieldsOf("jobs"), invoke: fieldsOf("invoke"), quote: fieldsOf("quote") };

function fieldsOf(kind: EnvelopeKind) {
  const known = Object.keys(ENVELOPES[kind].shape);
  const places: AcceptedFields = {
    "execution.executionConstraints.": Object.keys(ExecutionConstraints.shape),
    "execution.": Object.keys(ExecutionOptions.shape),
    "": known,
    "context.": Object.keys(Context.shape),
    ...(kind === "quote"
      ? {}
      : { "sampling.": Object.keys(Sampling.shape), "budget.": Object.keys(Budget.shape) }),
  };
  return { known, places, atRoot: [...new Set([...LIFTED, ...known])] };
}

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const SNAKE_CASE = new Map(LIFTED.map((name) => [name, snakeCase(name)]));
const same = (a: Json | undefined, b: Json | undefined) => JSON.stringify(a) === JSON.stringify(b);
const invalid = (loc: (string | number)[], msg: string, type = "value_error"): never => {
  throw new ValidationFault([{ loc: ["body", ...loc], msg, type }]);
};

/**
 * Converts every accepted spelling of a request to one shape: options and constraints at the root move to their places,
 * a bare body becomes `input`, and aliases are resolved. A request therefore has the same hash under its idempotency
 * key however a client writes it. Throws `UNKNOWN_EXECUTION_FIELD`, `CONFLICTING_EXECUTION_CONSTRAINT`,
 * `ESTIMATE_MISMATCH` or a `ValidationFault`.
 */
export function normalizeEnvelope<K extends EnvelopeKind>(kind: K, raw: RawEnvelope): Envelope<K> {
  const body: Fields = { ...raw };
  const { known, places, atRoot } = FIELDS_OF[kind];
  const execution = objectAt(body, "execution");
  const constraints = objectAt(execution, "executionConstraints", ["execution"]);

  for (const name of OPTION_FIELDS) lift(body, execution, name, "option");
  for (const name of CONSTRAINT_FIELDS) lift(body, constraints, name, "constraint");

  const shims = kind === "quote" ? QUOTE_SHIMS : [];
  if (body.input === undefined && !body.inputPayloadRef) {
    const rest = Object.keys(body).filter((name) => !known.includes(name) && !shims.includes(name));
    body.input = Object.fromEntries(rest.map((name) => [name, body[name] as Json]));
    for (const name of rest) delete body[name];
  }
  if (kind === "quote") foldQuoteShims(body);
  const refuse = (fields: Json | undefined, path: string, supported?: string[]) =>
    isObject(fields) &&
    refuseUnknown(fields, path, places, { lifted: LIFTED, ...(supported && { supported }) });
  refuse(body, "", atRoot);
  refuse(execution, "execution.");
  refuse(constraints, "execution.executionConstraints.");
  if (kind !== "quote") {
    refuse(body.sampling, "sampling.");
    refuse(body.budget, "budget.");
  }

  foldQuoteIds(execution);
  foldTimeout(constraints);
  splitPin(constraints);
  execution.executionConstraints = constraints;
  body.execution = execution;

  const parsed = ENVELOPES[kind].safeParse(body, { reportInput: true });
  if (!parsed.success) throw new ValidationFault(toBodyIssues(parsed.error));
  const envelope = parsed.data as Envelope<K>; // the schema was chosen by the same key
  if (kind !== "quote") {
    leaveOutUnsaid(envelope as Envelope<"jobs">);
    checkCallerFields(envelope as Envelope<"jobs">);
  }
  return envelope;
}

/** Removes options that ask for nothing, and sorts the traits, so that equal requests have equal hashes. */
function leaveOutUnsaid(envelope: Envelope<"jobs">): void {
  if (envelope.sampling) envelope.sampling = said(envelope.sampling);
  if (envelope.budget) envelope.budget = said(envelope.budget);
  if (envelope.toolSchemas?.length === 0) envelope.toolSchemas = null;
  if (envelope.matureContentTraits.length > 1)
    envelope.matureContentTraits = [...new Set(envelope.matureContentTraits)].sort();
}

/** Makes a key for a submission that was sent without one. */
export const mintKey = (kind: "jobs" | "invoke") =>
  `${kind === "jobs" ? "job" : "run"}-${randomBytes(16).toString("hex")}`;

/**
 * Returns the key of the body or the header, or undefined if there is none. Throws a `ValidationFault` if both are
 * given and differ. The body's key may also be the one that 0.2.0 read from the header.
 */
export function settleKey(
  inBody: string | null | undefined,
  header: string | SentKey | undefined,
): SentKey | undefined {
  const fromBody = inBody?.trim() || undefined;
  const sent = typeof header === "string" ? { key: header.trim() } : header;
  const fromHeader = sent?.key || undefined;
  if (fromHeader && charactersOf(fromHeader) > MOST_KEY_CHARACTERS)
    invalid(
      ["idempotencyKey"],
      `The Idempotency-Key header is longer than ${MOST_KEY_CHARACTERS} characters.`,
    );
  if (fromBody && fromHeader && fromBody !== fromHeader && fromBody !== sent?.former) {
    invalid(
      ["idempotencyKey"],
      "The Idempotency-Key header and the idempotencyKey field differ. Send one of them.",
    );
  }
  const key = fromBody ?? fromHeader;
  if (key === undefined) return undefined;
  return key === fromHeader && sent ? sent : { key };
}

/**
 * Converts the errors of a schema to field errors of the body, or of its part at this path. The schema must be parsed
 * with `reportInput`.
 */
export function toBodyIssues(error: z.ZodError, at: string[] = []): ValidationIssue[] {
  return toWireIssues(
    error.issues.map((issue) => ({ ...issue, path: [...at, ...issue.path] })),
    "body",
  );
}

function objectAt(parent: Fields, name: string, path: string[] = []): Fields {
  const value = parent[name];
  if (value === undefined || value === null) return {};
  if (!isObject(value)) return invalid([...path, name], "Must be an object.", "object_type");
  return { ...value };
}

/** Moves a root field in camelCase or snake_case to its place. Throws if the field has two different values. */
function lift(body: Fields, target: Fields, name: string, what: "option" | "constraint") {
  for (const spelling of [name, SNAKE_CASE.get(name) ?? name]) {
    const value = body[spelling];
    if (value === undefined) continue;
    delete body[spelling];
    const there = target[name];
    if (there === undefined || there === null || same(there, value)) {
      if (value !== null || there === undefined) target[name] = value;
    } else if (value !== null) {
      if (what === "option") invalid([spelling], `This differs from execution.${name}. Send it once.`);
      fail("CONFLICTING_EXECUTION_CONSTRAINT", `${name} has two different values. Send it once.`, {
        field: name,
        values: [value, there],
      });
    }
  }
}

function foldQuoteShims(body: Fields) {
  if (body.options === undefined && body.model === undefined) return;
  const input = objectAt(body, "input");
  const merge = (name: string, value: Json) => {
    if (input[name] !== undefined && !same(input[name], value))
      invalid(["options", name], `This differs from input.${name}. Send it once.`);
    input[name] = value;
  };
  for (const [name, value] of Object.entries(objectAt(body, "options"))) merge(name, value);
  if (body.model !== undefined) merge("model", body.model);
  delete body.options;
  delete body.model;
  body.input = input;
}

/** Copies a quote's id to the other of its two names. Throws `ESTIMATE_MISMATCH` if they differ. */
function foldQuoteIds(execution: Fields) {
  const [quoteId, estimateId] = [execution.quoteId ?? undefined, execution.estimateId ?? undefined];
  if (typeof quoteId === "string" && typeof estimateId === "string" && quoteId !== estimateId)
    fail(
      "ESTIMATE_MISMATCH",
      "execution.quoteId and execution.estimateId name different quotes. Send one of them.",
      {
        field: "execution.estimateId",
        quoteId,
        estimateId,
      },
    );
  if (quoteId ?? estimateId) {
    execution.quoteId = quoteId ?? estimateId ?? null;
    execution.estimateId = estimateId ?? quoteId ?? null;
  }
}

function foldTimeout(constraints: Fields) {
  const { timeoutSeconds, maxDurationSeconds } = constraints;
  if (timeoutSeconds === undefined || timeoutSeconds === null) return;
  if (
    maxDurationSeconds !== undefined &&
    maxDurationSeconds !== null &&
    !same(timeoutSeconds, maxDurationSeconds)
  ) {
    fail(
      "CONFLICTING_EXECUTION_CONSTRAINT",
      "timeoutSeconds and maxDurationSeconds differ. Send one of them.",
      {
        field: "maxDurationSeconds",
        values: [timeoutSeconds, maxDurationSeconds],
      },
    );
  }
  constraints.maxDurationSeconds = timeoutSeconds;
  delete constraints.timeoutSeconds;
}

/**
 * Splits a `provider/model` in `providerPin` into provider and model, because error details list routes in this form.
 */
function splitPin(constraints: Fields) {
  const { providerPin, preferredModel } = constraints;
  if (typeof providerPin !== "string") return;
  const [, provider, model] = /^([^/]+)\/(.+)$/s.exec(providerPin) ?? [];
  if (!provider || !model) return;
  const isSame = preferredModel === model || preferredModel === providerPin;
  if (preferredModel !== undefined && preferredModel !== null && !isSame)
    fail(
      "CONFLICTING_EXECUTION_CONSTRAINT",
      "providerPin and preferredModel name different models. Send one.",
      {
        field: "providerPin",
        values: [providerPin, preferredModel],
      },
    );
  Object.assign(constraints, { providerPin: provider, preferredModel: model });
}

/**
 * Returns the deployment's ceiling for caller data if it is lower than the published one. A value out of range counts
 * as the published one.
 */
function ceiling(configured: number, published: number) {
  return configured < 1 || configured > published ? published : configured;
}

/** Throws a `ValidationFault` if the caller's own fields exceed the ceilings of this deployment. */
export function checkCallerFields(envelope: Pick<Envelope<"jobs">, "externalRef" | "tags" | "metadata">) {
  const issues: ValidationIssue[] = [];
  const add = (loc: (string | number)[], msg: string) =>
    issues.push({ loc: ["body", ...loc], msg, type: "too_long" });
  const refLength = ceiling(env.EXTERNAL_REF_MAX_LENGTH, 255);
  if (charactersOf(envelope.externalRef ?? "") > refLength)
    add(["externalRef"], `At most ${refLength} characters.`);
  const [tagCount, tagLength] = [ceiling(env.TAGS_MAX, 32), ceiling(env.TAG_MAX_LENGTH, 256)];
  if (envelope.tags.length > tagCount) add(["tags"], `At most ${tagCount} tags.`);
  envelope.tags.forEach((tag, position) => {
    if (charactersOf(tag) > tagLength) add(["tags", position], `At most ${tagLength} characters.`);
  });
  issues.push(...issuesOfObject(envelope.metadata, ["metadata"]));
  if (issues.length > 0) throw new ValidationFault(issues);
}

/** Throws a `ValidationFault` if a caller's object at this place of the body exceeds the ceilings of metadata. */
export function checkCallerObject(value: Fields, at: string[]) {
  const issues = issuesOfObject(value, at);
  if (issues.length > 0) throw new ValidationFault(issues);
}

function issuesOfObject(value: Fields, at: string[]): ValidationIssue[] {
  const issue = (msg: string) => [{ loc: ["body", ...at], msg, type: "too_long" }];
  const [bytes, depth] = [ceiling(env.METADATA_MAX_BYTES, 16384), ceiling(env.METADATA_MAX_DEPTH, 32)];
  if (Buffer.byteLength(JSON.stringify(value)) > bytes) return issue(`At most ${bytes} bytes as JSON.`);
  return depthOf(value) > depth ? issue(`At most ${depth} levels deep.`) : [];
}

function depthOf(value: Json): number {
  if (typeof value !== "object" || value === null) return 0;
  let deepest = 0;
  for (const inner of Object.values(value)) deepest = Math.max(deepest, depthOf(inner));
  return deepest + 1;
}
