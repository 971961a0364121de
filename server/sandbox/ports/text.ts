import { TextRequest } from "../requests";
import { answerText, type TextAnswer } from "../text";
import { definePort } from "./define";

const noText = (request: TextRequest): TextAnswer => {
  const { usage } = answerText({ ...request, responseFormat: { type: "text" }, tools: undefined });
  return {
    text: "",
    finishReason: "stop",
    toolCalls: [],
    usage: { ...usage, outputTokens: 0, reasoningTokens: 0 },
  };
};

export const text = definePort("text", TextRequest, async (request) => answerText(request), noText);
