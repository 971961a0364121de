import { createHash } from "node:crypto";
import type { z } from "zod";
import { Budget, Context } from "@/server/contract/envelope";
import {
  MOST_CHOICE_CHARACTERS,
  PINNED_ADMISSION,
  PINNED_TIMEOUT,
  Pin,
  PinnedBulkRequest,
  PinnedConstraints,
  PinnedExecution,
  PinnedLimits,
  PinnedRequest,
  PinnedSampling,
} from "@/server/contract/pinned";
import { checkCallerFields, given, refuseUnknown, said, toBodyIssues } from "@/server/domain/envelope";
import type { Json } from "@/server/platform/durable/step";
import { fail, ValidationFault } from "@/server/platform/errors/errors";
import { canonicalHashInTurns, canonicalInTurns, canonicalText } from "@/server/platform/text/canonical";
import { isLongerThan, isObject, plainJson } from "@/server/platform/text/json";
import type { SharedContent } from "../rows";

type Fields = Record<string, Json>;
/** The part that a request and a bulk have in common. */
export type SharedRequest = Omit<PinnedRequest, "input">;

/**
 * Parses a posted body as one pinned request. Throws UNKNOWN_EXECUTION_FIELD,
 * CONFLICTING_EXECUTION_CONSTRAINT, MANAGED_PINNED_UNAVAILABLE, or a list of field errors.
 */
export function parsePinned(raw: Fields): PinnedRequest {
  return parse(PinnedRequest, raw);
}

/** Parses a bulk; throws like `parsePinned`. */
export function parsePinnedBulk(raw: Fields): PinnedBulkRequest {
  return parse(PinnedBulkRequest, raw);
}

const OBJECTS = {
  pin: Pin,
  sampling: PinnedSampling,
  limits: PinnedLimits,
  context: Context,
  budget: Budget,
  execution: PinnedExecution,
  "execution.executionConstraints": PinnedConstraints,
} as const;

function parse<R extends SharedRequest>(schema: z.ZodObject & z.ZodType<R>, raw: Fields): R {
  const inner = Object.entries(OBJECTS).map(([path, { shape }]) => [`${path}.`, Object.keys(shape)] as const);
  const places = { "": Object.keys(schema.shape), ...Object.fromEntries(inner) };
  refuseUnknown(raw, "", places);
  for (const path of Object.keys(OBJECTS)) {
    const given = at(raw, path.split("."));
    if (isObject(given)) refuseUnknown(given, `${path}.`, places);
  }
  refuseLongChoice(raw.toolChoice);
  const parsed = schema.safeParse(raw, { reportInput: true });
  if (!parsed.success) throw new ValidationFault(toBodyIssues(parsed.error));
  const request: R = parsed.data;
  checkCallerFields(request);
  refuseManaged(request);
  checkAliases(request);
  return request;
}

/** Refuses a tool choice that is longer than any can be, before each of its members is looked at. */
function refuseLongChoice(toolChoice: Json | undefined) {
  if (!isLongerThan(toolChoice, MOST_CHOICE_CHARACTERS)) return;
  const msg = `At most ${MOST_CHOICE_CHARACTERS.toLocaleString("en")} characters as JSON.`;
  throw new ValidationFault([{ loc: ["body", "toolChoice"], msg, type: "too_long" }]);
}

function refuseManaged({ billingMode, execution }: SharedRequest) {
  if (billingMode !== "managed" && execution?.billingMode !== "managed") return;
  fail(
    "MANAGED_PINNED_UNAVAILABLE",
    "A pinned execution runs on the project's own provider account. Leave out managed billing and connect an account.",
  );
}

/** Throws if two names of one setting have different values. */
function checkAliases({ timeoutSeconds, limits, execution }: SharedRequest) {
  const conflict = (field: string, values: (number | null | undefined)[]) => {
    const named = values.filter((value) => value !== undefined && value !== null);
    if (new Set(named).size < 2) return;
    fail("CONFLICTING_EXECUTION_CONSTRAINT", `${field} has two different values. Send it once.`, {
      field,
      values: named,
    });
  };
  conflict("timeoutSeconds", [timeoutSeconds, limits?.timeoutSeconds]);
  conflict("maxCostUsd", [execution?.maxCostUsd, execution?.executionConstraints?.maxCostUsd]);
}

/** The time limits of a request. The default admission deadline depends on its processing. */
export function limitsOf({ limits, timeoutSeconds, processing }: SharedRequest) {
  return {
    timeoutSeconds: limits?.timeoutSeconds ?? timeoutSeconds ?? PINNED_TIMEOUT.standard,
    admissionDeadlineSeconds: limits?.admissionDeadlineSeconds ?? PINNED_ADMISSION[processing],
  };
}

/**
 * The members that go to the vendor, without the input. Absent members stay absent, except `sampling`, which
 * becomes an empty object.
 */
export function sharedContentOf(request: SharedRequest): SharedContent {
  const { instructions, sampling, responseFormat, tools, toolChoice } = request;
  return {
    ...(instructions === undefined ? {} : { instructions }),
    sampling: sampling ?? {},
    ...(responseFormat === undefined ? {} : { responseFormat }),
    ...(tools === undefined ? {} : { tools }),
    ...(toolChoice === undefined ? {} : { toolChoice }),
  };
}

/**
 * Hashes requests that differ only in their input: the SHA-256 in hex of the RFC 8785 form of pin, isolation,
 * processing, instructions, input, sampling, responseFormat, tools and toolChoice. Absent members stay
 * absent.
 */
export async function requestHasher(request: SharedRequest): Promise<(input: string) => string> {
  const { pin, isolation, processing } = request;
  const { sampling, ...content } = sharedContentOf(request);
  const shared = await canonicalInTurns(
    plainJson({
      pin,
      isolation,
      processing,
      ...content,
      ...given({ sampling: said(sampling) }),
    }),
  );
  // In canonical order `input` precedes every other member. The rest is kept as bytes, because a bulk hashes
  // it thousands of times.
  const rest = Buffer.from(`,${shared.slice(1)}`);
  return (input) =>
    createHash("sha256")
      .update(`{"input":${canonicalText(input)}`)
      .update(rest)
      .digest("hex");
}

/**
 * Hashes a request and its place, without the key, `includeNativeResponse` and `bulkWait`. A repost under the
 * same key must have the same hash.
 */
export function identityHashOf(
  request: SharedRequest & { bulkWait?: unknown },
  place: { projectId: string; environment: string },
): Promise<string> {
  const {
    idempotencyKey: _key,
    includeNativeResponse: _native,
    timeoutSeconds: _alias,
    bulkWait: _wait,
    ...asked
  } = request;
  const { execution, budget, sampling, ...rest } = asked;
  return canonicalHashInTurns({
    ...given(rest),
    ...given({ execution: said(execution), budget: said(budget), sampling: said(sampling) }),
    context: { ...request.context, ...place },
    limits: limitsOf(request),
  });
}

const at = (fields: Fields, path: string[]): Json | undefined =>
  path.reduce<Json | undefined>((value, name) => (isObject(value) ? value[name] : undefined), fields);
