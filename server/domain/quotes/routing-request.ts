import type { z } from "zod";
import type { Conversation } from "@/server/capabilities/conversation";
import type { CallOptions } from "@/server/capabilities/define";
import type { ExecutionConstraints, ExecutionOptions, Maturity } from "@/server/contract/envelope";
import type { Resolved } from "@/server/domain/adapters";
import type { Json } from "@/server/platform/durable/step";
import { ValidationFault } from "@/server/platform/errors/errors";
import { type ContentRating, RATINGS } from "@/server/providers/define";

/** The parts of an envelope that affect route or price. */
export type RoutingRequest = {
  input: Record<string, Json>;
  /** The parsed input, if already parsed. */
  parsedInput?: unknown;
  execution: {
    billingMode?: "byok" | "managed" | null | undefined;
    credentialSource?: "platform" | "customer" | null | undefined;
    maximumCharge?: z.output<typeof ExecutionOptions>["maximumCharge"];
    executionConstraints: ExecutionConstraints;
  };
  sampling?:
    | { temperature?: number | null | undefined; reasoningIntent?: ReasoningIntent | null | undefined }
    | null
    | undefined;
  responseSchema?: Record<string, Json> | null | undefined;
  responseSchemaName?: string | null | undefined;
  responseSchemaStrict?: boolean | null | undefined;
  toolSchemas?: Record<string, Json>[] | null | undefined;
  conversation?: Conversation | null | undefined;
  pin?: { target: string } | null | undefined;
  maturity?: Maturity | null;
  /** The adapters of the input, if already resolved. */
  adapters?: Resolved;
  /**
   * Data that the capability prepared from its files, if already done, so they are read once for all
   * routes.
   */
  material?: unknown;
  /** Result of `fundedFor`. */
  isFunded?: boolean | undefined;
  /** Time for the check of recent failures. */
  now?: Date;
  executionMode?: string | null | undefined;
  readerDelivery?: { boundary: string } | null | undefined;
  budget?:
    | { enforcement?: string | null | undefined; maximumEstimatedCost?: number | null | undefined }
    | null
    | undefined;
};
type ReasoningIntent = "omit" | "economy" | "balanced" | "deep" | "maximum";

type BesideInput =
  | "responseSchema"
  | "responseSchemaName"
  | "responseSchemaStrict"
  | "sampling"
  | "toolSchemas"
  | "conversation";

/** Returns the provider options of an envelope, which come in addition to its input. */
export function callOptions({
  responseSchema,
  responseSchemaName: name,
  responseSchemaStrict: strict,
  sampling,
  toolSchemas,
  conversation,
}: Pick<RoutingRequest, BesideInput>): CallOptions {
  return {
    ...(responseSchema ? { responseSchema } : {}),
    ...(name ? { responseSchemaName: name } : {}),
    ...(typeof strict === "boolean" ? { responseSchemaStrict: strict } : {}),
    ...(typeof sampling?.temperature === "number" ? { temperature: sampling.temperature } : {}),
    ...(sampling?.reasoningIntent ? { reasoningIntent: sampling.reasoningIntent } : {}),
    ...(toolSchemas?.length ? { tools: toolSchemas } : {}),
    ...(conversation ? { conversation } : {}),
  };
}

/** Returns the model that the caller pinned or preferred; null if none was named. */
export function requestedTarget({ pin, execution }: RoutingRequest): string | null {
  const { preferredModel, providerPin } = execution.executionConstraints;
  if (pin) return pin.target;
  if (!preferredModel || !providerPin || preferredModel.startsWith(`${providerPin}/`))
    return preferredModel ?? null;
  return `${providerPin}/${preferredModel}`;
}

/** Refuses a field, given as a dotted path of the body. */
export const refuseUnsupported = (field: string, msg: string): never => {
  throw new ValidationFault([{ loc: ["body", ...field.split(".")], msg, type: "unsupported" }]);
};

/**
 * Returns the requested billing mode; null if the request states none. `credentialSource` implies it:
 * `platform` means managed, `customer` means byok. The input of some capabilities also has this field.
 * Refuses values that contradict each other.
 */
export function billingModeOf(
  { execution }: RoutingRequest,
  inInput: "platform" | "customer" | undefined,
): "byok" | "managed" | null {
  const { billingMode } = execution;
  const credentialSource = execution.credentialSource ?? inInput;
  if (inInput && credentialSource !== inInput)
    refuseUnsupported(
      "input.credentialSource",
      `This differs from execution.credentialSource ${credentialSource}. Send one of them.`,
    );
  const implied = credentialSource && (credentialSource === "customer" ? "byok" : "managed");
  if (implied && billingMode && implied !== billingMode) {
    refuseUnsupported(
      "execution.credentialSource",
      `credentialSource ${credentialSource} implies billingMode ${implied}, but billingMode is ${billingMode}. Send one of them.`,
    );
  }
  return billingMode ?? implied ?? null;
}

/** Lowest rating that each trait requires. */
const TRAIT_RATINGS = { sexual_non_graphic: "R", graphic_violence: "R", sexual_explicit: "NC17" } as const;

/** Returns the rating that a route must allow: the highest of the stated rating and those of the traits. */
export function leastRating(maturity: Maturity | null | undefined): ContentRating | null {
  if (!maturity) return null;
  const ratings = maturity.traits.map((trait): ContentRating => TRAIT_RATINGS[trait]);
  if (maturity.rating) ratings.push(maturity.rating);
  return RATINGS.findLast((rating) => ratings.includes(rating)) ?? null;
}
