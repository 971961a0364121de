import type { Json } from "@/server/step";
import type { ModelFacts, ProviderIo, TextResult, Tier, Usage } from "./define";
import type { HttpOptions, HttpReply } from "./http";

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
    readonly field: string,
    message: string,
  ) {
    super(message);
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
};

/** One of a vendor's interfaces, as pins use it. */
export type PinApi = {
  /** Path below the base URL. */
  path(model: ModelFacts): string;
  /**
   * The body that is sent, whole: a function of the call, the model and the tier alone. Throws PinRefusal for what this
   * interface, or this model, cannot say.
   */
  body(call: PinCall, model: ModelFacts, tier: Tier): Record<string, Json>;
  /** Members of the body that carry the model, the prompt, the tools and the response format: all others are settings. */
  content: readonly string[];
  /** Does it have the tier `flex` for models that say `supports.deferred`? */
  canDefer: boolean;
  headers(io: ProviderIo): Record<string, string>;
  explain?: HttpOptions["explain"];
  /**
   * Reads a successful answer. Throws ProviderFault `failed` where the vendor says that it failed, or where evidence is
   * missing that a record needs: the model, the usage, an id.
   */
  read(reply: HttpReply, io: ProviderIo): PinAnswer;
};

/** The interfaces of a provider that can be pinned, by the names their vendor gives them. */
export type PinApis = Record<string, PinApi>;
