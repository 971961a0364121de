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
 * Pins: one request to a vendor's own interface, sent exactly as it was asked for. Nothing is filled in, rewritten,
 * repaired, shortened or tried elsewhere; what an interface cannot say is refused before anything is written down.
 */

/** One request, every field as the caller gave it; what is absent stays absent on the wire. */
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

/** What an interface cannot say: the field as the caller writes it (`sampling.topK`), and a sentence. */
export class PinRefusal extends Error {
  override readonly name = "PinRefusal";
  constructor(
    /** From the body on; the place in a list is a number. */
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
  /** What the vendor says of the very configuration that answered; null where it says nothing. */
  providerFingerprint: string | null;
  /** The tier it ran on, by the vendor's word. Absent: it said nothing. */
  tier?: Tier;
  /** What was written, where the usage does not say how much that was. */
  delivered?: Delivered;
};

/** What a text port has read of an answer, as pins keep it. */
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
  // A refusal is an answer in words, and opaque members are in the native response.
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
   * The body that is sent, whole: a function of the call, the model and the tier alone. Throws PinRefusal for what this
   * interface, or this model, cannot say.
   */
  body(call: PinCall, model: ModelFacts, tier: Tier): Record<string, Json>;
  /**
   * Members of the body that carry the model, the prompt, the tools and the response format, inner ones by their path
   * (`text.format`): all others are settings.
   */
  content: readonly string[];
  /** Does it have the tier `flex` for models that say `supports.deferred`? */
  canDefer: boolean;
  headers(io: ProviderIo): Record<string, string>;
  explain?: HttpOptions["explain"];
  /**
   * Reads a successful answer; evidence the vendor left out is null. Throws ProviderFault `failed` where the vendor says
   * that it failed.
   */
  read(reply: HttpReply, io: ProviderIo): PinAnswer;
};

/** The interfaces of a provider that can be pinned, by the names their vendor gives them. */
export type PinApis = Record<string, PinApi>;

/** The settings of a body: what is left without its content. */
export function settingsOf(
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

/** A whole answer with all the evidence a record needs. */
export type PinSent = PinAnswer & {
  usage: Usage;
  providerRequestId: string;
  providerModel: string;
  status: number;
  /** The vendor's own answer, as JSON. */
  nativeResponse: Json;
};

/**
 * Sends these very bytes, once. Throws ProviderFault as every port does; an answer without the evidence that a record
 * needs, or with a credential in it, is `failed`. `io.attemptId` is the execution's own id, at each of its submissions: by
 * it the vendor's log counts how many arrived.
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
  return { ...answer, usage, providerRequestId, providerModel, status, nativeResponse: body as Json }; // it was parsed
}

/** Are both figures given that every price of tokens needs? */
const isCounted = (usage: Usage | null): usage is Usage =>
  usage !== null && isCount(usage.inputTokens) && isCount(usage.outputTokens);
