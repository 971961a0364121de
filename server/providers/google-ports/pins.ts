import type { Json } from "@/server/platform/durable/step";
import { isObject } from "@/server/platform/text/json";
import {
  placeSampling,
  requireOfModel,
  respellChoice,
  respellTools,
  type SamplingMembers,
} from "../pin-call";
import { type PinApis, type PinCall, PinRefusal, toPinAnswer } from "../pins";
import { withoutUndefined } from "../text-call";
import { explainGoogleError, googleHeaders, modelPath } from "./common";
import { readGoogleText } from "./text";

const SAMPLING: SamplingMembers = {
  temperature: "generationConfig.temperature",
  topP: "generationConfig.topP",
  topK: "generationConfig.topK",
  maxOutputTokens: "generationConfig.maxOutputTokens",
  seed: "generationConfig.seed",
  stop: "generationConfig.stopSequences",
  frequencyPenalty: "generationConfig.frequencyPenalty",
  presencePenalty: "generationConfig.presencePenalty",
  reasoningEffort: "generationConfig.thinkingConfig.thinkingLevel",
  thinkingBudgetTokens: "generationConfig.thinkingConfig.thinkingBudget",
};

const FORMAT = ["responseMimeType", "responseJsonSchema"];

export const googlePins: PinApis = {
  "generate-content": {
    path: (model) => modelPath({ model }, "generateContent"),
    content: [
      ...["contents", "systemInstruction", "tools"],
      ...FORMAT.map((member) => `generationConfig.${member}`),
    ],
    canDefer: false,
    headers: googleHeaders,
    explain: explainGoogleError,
    body(call, model) {
      requireOfModel(call, model);
      const { instructions, input } = call;
      const { generationConfig: settings } = placeSampling(call, SAMPLING);
      const format = formatOf(call);
      const config = { ...(isObject(settings) ? settings : {}), ...format };
      const declarations = respellTools(call, toDeclaration);
      return {
        contents: [{ role: "user", parts: [{ text: input }] }],
        ...withoutUndefined({
          systemInstruction: instructions === undefined ? undefined : { parts: [{ text: instructions }] },
          generationConfig: Object.keys(config).length === 0 ? undefined : config,
          tools: declarations && [{ functionDeclarations: declarations }],
          toolConfig: choiceOf(call),
        }),
      };
    },
    read: (reply, io) => toPinAnswer(readGoogleText(reply, io)),
  },
};

/** A schema that is already under the vendor's name, `parametersJsonSchema`, stays there. */
function toDeclaration(tool: Record<string, Json>): Record<string, Json> {
  if (tool.parametersJsonSchema !== undefined) return tool;
  const { parameters, ...rest } = tool;
  return { ...rest, ...withoutUndefined({ parametersJsonSchema: parameters }) };
}

/** The vendor supports media types and schemas. It takes no name for a schema and always enforces it. */
function formatOf({ responseFormat }: PinCall): Record<string, Json> {
  if (!responseFormat) return {};
  if (responseFormat.type === "text") return { responseMimeType: "text/plain" };
  const responseMimeType = "application/json";
  if (responseFormat.type === "json_object") return { responseMimeType };
  if (responseFormat.strict === false)
    throw new PinRefusal(
      ["responseFormat", "strict"],
      "This interface always enforces the schema. Leave this out.",
    );
  return { responseMimeType, responseJsonSchema: responseFormat.schema };
}

const MODES: Record<string, string> = { auto: "AUTO", none: "NONE", required: "ANY" };

function choiceOf(call: PinCall): Json | undefined {
  const choice = respellChoice(call, (name) => ({ mode: "ANY", allowedFunctionNames: [name] }));
  if (choice === undefined) return undefined;
  if (typeof choice === "string") return { functionCallingConfig: { mode: MODES[choice] ?? choice } };
  return isObject(choice) && choice.functionCallingConfig !== undefined
    ? choice
    : { functionCallingConfig: choice };
}
