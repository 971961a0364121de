import type { Json } from "@/server/platform/durable/step";
import { pinChat } from "../chat-ports/pin";
import type { HttpOptions } from "../http";
import {
  placeSampling,
  requireOfModel,
  respellChoice,
  respellTools,
  type SamplingMembers,
} from "../pin-call";
import { type PinApi, type PinApis, type PinCall, toPinAnswer } from "../pins";
import { withoutUndefined } from "../text-call";
import { explainOpenAiError, openAiHeaders } from "./common";
import { readResponse } from "./reply";

/* Pins of OpenAI: responses and chat completions. Nothing is stored at the vendor. */

const RESPONSES_SAMPLING: SamplingMembers = {
  temperature: "temperature",
  topP: "top_p",
  maxOutputTokens: "max_output_tokens",
  reasoningEffort: "reasoning.effort",
  verbosity: "text.verbosity",
};

/** The differences between vendors of the Responses API. */
type Dialect = {
  vendor: string;
  headers: PinApi["headers"];
  explain: NonNullable<HttpOptions["explain"]>;
  sampling: SamplingMembers;
  /** Members that every request needs. */
  always?: Record<string, Json>;
  canDefer?: boolean;
};

/** The pin of a vendor with the Responses API. */
export const pinResponses = ({
  vendor,
  headers,
  explain,
  sampling,
  always,
  canDefer = false,
}: Dialect): PinApi => ({
  path: () => "/responses",
  content: ["model", "instructions", "input", "tools", "text.format"],
  canDefer,
  headers,
  explain,
  body(call, model, tier) {
    requireOfModel(call, model);
    const { text, ...settings } = placeSampling(call, sampling);
    const format = formatOf(call);
    return {
      ...settings,
      ...withoutUndefined({
        model: model.id,
        instructions: call.instructions,
        input: call.input,
        text: format === undefined ? text : { ...(text as object | undefined), format },
        tools: respellTools(call, (tool) => ({ ...tool, type: "function" })),
        tool_choice: respellChoice(call, (name) => ({ type: "function", name })),
        service_tier: tier === "flex" ? tier : undefined,
      }),
      ...always,
    };
  },
  read: (reply, io) => toPinAnswer(readResponse(reply, io, { vendor, explain })),
});

/** Our format is already the vendor's flat one. */
const formatOf = ({ responseFormat }: PinCall): Json | undefined =>
  responseFormat && withoutUndefined({ ...responseFormat });

export const openAiPins: PinApis = {
  responses: pinResponses({
    vendor: "OpenAI",
    headers: openAiHeaders,
    explain: explainOpenAiError,
    sampling: RESPONSES_SAMPLING,
    always: { store: false },
    canDefer: true,
  }),
  "chat-completions": pinChat({
    explain: explainOpenAiError,
    headers: openAiHeaders,
    role: "developer",
    sampling: {
      temperature: "temperature",
      topP: "top_p",
      maxOutputTokens: "max_completion_tokens",
      seed: "seed",
      stop: "stop",
      frequencyPenalty: "frequency_penalty",
      presencePenalty: "presence_penalty",
      reasoningEffort: "reasoning_effort",
      verbosity: "verbosity",
    },
    always: { store: false },
  }),
};
