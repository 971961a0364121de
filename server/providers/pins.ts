import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import { isCount } from "./counts";
import {
  type Delivered,
  type ModelFacts,
  type Progress,
  ProviderFault,
  type ProviderIo,
  type TextResult,
  type Tier,
  type Usage,
} from "./define";
import { type HttpOptions, type HttpReply, postBytes } from "./http";

/*
 * Pins: one request to a vendor's own interface, with exactly the members that the caller wrote, in the vendor's
 * spelling. Apart from fixed members of an interface, such as `store: false`, nothing is added, repaired, truncated or
 * tried elsewhere; a field that the interface does not have is refused before anything is stored.
 */

/** One request with every field as the caller gave it; absent fields stay absent on the wire. */
export type PinCall = {
  instructions?: string;
  input: string;
  sampling: {
    temperature?: number;
    topP?: number;
    topK?: number;
    maxOutputTokens?: number;
    seed?: number;
    stop?: string[];
    frequencyPenalty?: number;
    presencePenalty?: number;
    reasoningEffort?: string;
    thinking?: "enabled" | "disabled";
    thinkingBudgetTokens?: number;
    verbosity?: string;
  };
  responseFormat?:
    | { type: "text" }
    | { type: "json_object" }
    | { type: "json_schema"; name: string; schema: Record<string, Json>; strict?: boolean };
  tools?: Record<string, Json>[];
  toolChoice?: Json;
};

/** A refused field, in the caller's spelling (`sampling.topK`), with the reason. */
export class PinRefusal extends Error {
  override readonly name = "PinRefusal";
  constructor(
    /** Path within the body; indices of lists are numbers. */
    readonly at: (string | number)[],
    message: string,
  ) {
    super(message);
  }

  get field(): string {
    return this.at.join(".");
  }
}

export type PinAnswer = TextResult & {
  usage: Usage | null;
  providerRequestId: string | null;
  providerModel: string | null;
  /** The vendor's fingerprint of the configuration that answered; null if it reports none. */
  providerFingerprint: string | null;
  /** The tier that ran, as the vendor reported it; absent if it reported none. */
  tier?: Tier;
  /** The written output, if the usage does not count it. */
  delivered?: Delivered;
};

/** Converts a text port's progress to the answer of a pin. */
export function toPinAnswer(
  {
    result,
    usage,
    providerRequestId,
    providerModel,
    tier,
    delivered,
  }: Extract<Progress<TextResult>, { state: "done" }>,
  providerFingerprint: string | null = null,
): PinAnswer {
  // A refusal counts as text, and opaque members are in the native response.
  const { isRefusal: _, opaque: __, toolCalls, ...said } = result;
  return {
    ...said,
    toolCalls: toolCalls.map(({ opaque: _, ...call }) => call),
    usage,
    providerRequestId,
    providerModel,
    providerFingerprint,
    ...(tier ? { tier } : {}),
    ...(delivered ? { delivered } : {}),
  };
}

/** One of a vendor's interfaces, as pins use it. */
export type PinApi = {
  /** Path below the base URL. */
  path(model: ModelFacts): string;
  /**
   * The complete body. It depends only on the call, the model and the tier. Throws PinRefusal for fields that the
   * interface or the model does not have.
   */
  body(call: PinCall, model: ModelFacts, tier: Tier): Record<string, Json>;
  /**
   * Members of the body with the model, the prompt, the tools and the response format, nested ones as paths
   * (`text.format`). All other members are settings.
   */
  content: readonly string[];
  /** Does the interface have the tier `flex`, for models with `supports.deferred`? */
  canDefer: boolean;
  headers(io: ProviderIo): Record<string, string>;
  explain?: HttpOptions["explain"];
  /**
   * Reads a successful answer; evidence that the vendor left out is null. Throws ProviderFault `failed` if the vendor
   * reports a failure.
   */
  read(reply: HttpReply, io: ProviderIo): PinAnswer;
};

/** A provider's interfaces for pins, under the vendor's names. */
export type PinApis = Record<string, PinApi>;

/** The settings of a body: all members except its content. */
export function pinSettings(
  { content }: Pick<PinApi, "content">,
  body: Record<string, Json>,
): Record<string, Json> {
  return content.reduce((rest, path) => without(rest, path.split(".")), body);
}

function without(body: Record<string, Json>, [first = "", ...rest]: string[]): Record<string, Json> {
  const { [first]: inner, ...others } = body;
  if (rest.length === 0 || !isObject(inner)) return others;
  const left = without(inner, rest);
  return Object.keys(left).length === 0 ? others : { ...others, [first]: left };
}

/** A complete answer with the evidence that a record needs. */
export type PinSent = PinAnswer & {
  usage: Usage;
  providerRequestId: string;
  providerModel: string;
  status: number;
  /** The vendor's own answer, as JSON. */
  nativeResponse: Json;
};

/**
 * Sends exactly these bytes, once. Throws ProviderFault like every port; an answer that lacks the evidence for a record
 * or contains a credential is `failed`. `io.attemptId` is the execution's id for all its submissions, so that the
 * vendor's log shows how many arrived.
 */
export async function sendPin(api: PinApi, bytes: Uint8Array, io: ProviderIo): Promise<PinSent> {
  const reply = await postBytes(io, api.path(io.model), {
    body: bytes,
    mediaType: "application/json",
    headers: api.headers(io),
    ...(api.explain ? { explain: api.explain } : {}),
  });
  const answer = api.read(reply, io);
  const { usage, providerRequestId, providerModel, delivered } = answer;
  const known = {
    status: reply.status,
    ...(providerRequestId ? { providerRequestId } : {}),
    usage,
    ...(delivered ? { delivered } : {}),
  };
  const unusable = (message: string) => new ProviderFault("failed", "attempted", message, known);
  if (!isCounted(usage) || !providerRequestId || !providerModel)
    throw unusable(
      "The provider's answer lacks evidence that a record needs: its id, its model, or its usage.",
    );
  if (reply.hadCredential) throw unusable("The provider's answer contains a credential and was not stored.");
  const { status, body } = reply;
  return { ...answer, usage, providerRequestId, providerModel, status, nativeResponse: body as Json }; // the HTTP client parsed it
}

/** Does the usage have both counts that every token price needs? */
const isCounted = (usage: Usage | null): usage is Usage =>
  usage !== null && isCount(usage.inputTokens) && isCount(usage.outputTokens);
