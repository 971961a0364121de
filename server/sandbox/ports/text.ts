import { messageWords, questionOf } from "../conversation";
import { TextRequest } from "../requests";
import { answerText, type TextAnswer } from "../text";
import { definePort, type ScriptedBehaviour } from "./define";

const noText = (request: TextRequest): TextAnswer => {
  const { usage } = answerText({ ...request, responseFormat: { type: "text" }, tools: undefined });
  return {
    text: "",
    finishReason: "stop",
    toolCalls: [],
    usage: { ...usage, outputTokens: 0, reasoningTokens: 0 },
  };
};

const SCRIPT = /^\[(slow|refuse|busy|lost|empty|fail)(?: (\d{1,6}))?\]/;

/**
 * Reads the behavior that the question or a system message requests in brackets at its start. Null if there is none, and for
 * any model except sandbox-mixed.
 */
function scriptOf(request: TextRequest): ScriptedBehaviour | null {
  if (request.model !== "sandbox-mixed") return null;
  const said = request.messages.filter(({ role }) => role === "system").map(messageWords);
  const found = [questionOf(request), ...said].map((words) => SCRIPT.exec(words)).find(Boolean);
  if (!found) return null;
  const [, behaviour, figure] = found;
  return { behaviour: behaviour as ScriptedBehaviour["behaviour"], figure: figure ? Number(figure) : null }; // the pattern allows only these words
}

export const textPort = definePort("text", TextRequest, {
  answer: async (request) => answerText(request),
  empty: noText,
  script: scriptOf,
});
