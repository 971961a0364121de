import { placeSampling, requireOfModel } from "../pin-call";
import { type PinApis, toPinAnswer } from "../pins";
import { withoutUndefined } from "../text-call";
import { explainSandboxError, sandboxHeaders } from "./common";
import { readSandboxText } from "./text";

/* Pins of the sandbox. Its text interface uses our names, except for the reasoning effort. */

export const sandboxPins: PinApis = {
  responses: {
    path: () => "/v1/text",
    content: ["model", "messages", "responseFormat", "tools"],
    canDefer: true,
    headers: sandboxHeaders,
    explain: explainSandboxError,
    body(call, model, tier) {
      requireOfModel(call, model);
      const { instructions, input, responseFormat, tools, toolChoice } = call;
      return {
        model: model.id,
        messages: [
          ...(instructions === undefined ? [] : [{ role: "system", content: instructions }]),
          { role: "user", content: input },
        ],
        ...placeSampling(call, {
          temperature: "temperature",
          topP: "topP",
          maxOutputTokens: "maxOutputTokens",
          seed: "seed",
          stop: "stop",
          reasoningEffort: "reasoningIntent",
        }),
        ...withoutUndefined({ responseFormat, tools, toolChoice, tier: tier === "flex" ? tier : undefined }),
      };
    },
    read: (reply, io) => toPinAnswer(readSandboxText(reply, io)),
  },
};
