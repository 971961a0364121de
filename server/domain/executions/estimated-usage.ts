import { countTokens } from "@/server/platform/text/tokenizer";
import {
  type AnyCall,
  type Delivered,
  type ModelFacts,
  messageText,
  type TextCall,
  type Usage,
} from "@/server/providers/define";
import { type PromptPicture, pictureTokensAtMost, promptPictures } from "@/server/providers/pictures";

/* Estimates the usage of an answer that reports none, from the request and the delivered output. */

/** The parts of a request from which its tokens are estimated. */
export type RequestSize = { words: string; pictures: PromptPicture[] };

/**
 * Reads the input of a call for text or vectors, on demand; null for other calls, whose work has no tokens.
 */
export function requestSizeOf(call: AnyCall): (() => RequestSize) | null {
  if ("messages" in call) return () => askedOfText(call);
  return "texts" in call ? () => ({ words: call.texts.join("\n"), pictures: [] }) : null;
}

/**
 * Includes everything that the model reads: messages, the opaque members that go back to their server, tool
 * calls, tools and the schema of the answer.
 */
function askedOfText({ messages, tools = [], responseFormat }: TextCall): RequestSize {
  const calls = messages.flatMap((message) =>
    message.role === "assistant"
      ? [...(message.opaque ? [message.opaque] : []), ...(message.toolCalls ?? [])]
      : [],
  );
  const schema = responseFormat.type === "json_schema" ? [responseFormat.schema] : [];
  return {
    words: [
      ...messages.map(messageText),
      ...[...calls, ...tools, ...schema].map((each) => JSON.stringify(each)),
    ].join("\n"),
    pictures: messages.flatMap(promptPictures),
  };
}

type Terms = {
  model: ModelFacts;
  /** Reported figures replace the estimates. */
  reported: Usage | null;
  /** Factor on the visible output, for tokens that a model uses unseen. */
  hiddenOutput: number;
  /** Maximum output that the request allows. It caps the estimate, but never below the visible output. */
  mostOutput?: number | undefined;
};

/**
 * Estimates the input from the request's words and pictures, and the output from the delivered text,
 * reasoning and calls. Words are counted in o200k_base tokens.
 */
export async function estimatedUsage(
  { words, pictures }: RequestSize,
  { text, reasoning, calls }: Delivered,
  { model, reported, hiddenOutput, mostOutput = Number.POSITIVE_INFINITY }: Terms,
): Promise<Usage> {
  const [input, seen] = await Promise.all([countTokens(words), countTokens(text + reasoning + calls)]);
  return {
    inputTokens:
      input + pictures.reduce((sum, picture) => sum + (pictureTokensAtMost(model, picture) || 0), 0),
    outputTokens: Math.max(seen, Math.min(Math.ceil(seen * hiddenOutput), mostOutput)),
    ...reported,
  };
}
