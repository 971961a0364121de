import { MAX_REPAIR_BYTES, SCHEMA_NAME } from "@/server/capabilities/define";
import { countTokens } from "@/server/platform/text/tokenizer";
import { LARGE, turn } from "@/server/platform/time/turn";
import {
  type EmbeddingCall,
  type ModelFacts,
  messageText,
  type TextCall,
  type TextMessage,
} from "@/server/providers/define";
import { pictureTokensAtMost, promptPictures } from "@/server/providers/pictures";

/** Text above this size in bytes is bounded instead of counted. */
const COUNTED_BYTES = 256 * 1024;
/** Token allowance for the provider's framing of each message and of the call. */
const FRAME = 16;

/**
 * Returns the text of a message in addition to its content: the author's name, opaque members, tool calls,
 * or the id of the answered call. Each is framed like a message.
 */
function besideText(message: TextMessage): string[] {
  if (message.role === "tool") return [message.toolCallId];
  if (message.role !== "assistant") return message.name === undefined ? [] : [message.name];
  const calls = message.toolCalls ?? [];
  return [
    ...(message.opaque ? [JSON.stringify(message.opaque)] : []),
    ...calls.map(({ id, name, arguments: text, opaque }) =>
      [id, name, text, opaque ? JSON.stringify(opaque) : ""].join(""),
    ),
  ];
}

/** Returns all text of a call's messages, without pictures. */
export const promptTexts = ({ messages }: Pick<TextCall, "messages">): string[] =>
  messages.flatMap((message) => [messageText(message), ...besideText(message)]);

/**
 * Upper bound for the tokens of a text: no tokenizer in use makes more tokens than the text has UTF-8
 * bytes.
 */
function tokensAtMost(model: ModelFacts, bytes: number): number {
  return model.tokenBytes ? Math.ceil(bytes / model.tokenBytes) : bytes;
}

/** Returns the caller's schema name; the framing allowance already covers our own. */
const nameOf = ({ name }: { name: string }) => (name === SCHEMA_NAME ? "" : name);

/**
 * Returns an upper bound for the tokens of a call. Messages are counted if the model has a tokenizer and
 * they have at most 256 KiB, and bounded by bytes otherwise; schemas and tools are always bounded by bytes,
 * because each vendor writes them into the prompt differently. `isCounted` is false if anything was
 * bounded.
 */
export async function inputTokensAtMost(
  model: ModelFacts,
  call: TextCall,
): Promise<{ tokens: number; isCounted: boolean }> {
  const format =
    call.responseFormat.type === "json_schema"
      ? nameOf(call.responseFormat) + JSON.stringify(call.responseFormat.schema)
      : "";
  // A server may also write passed members into the prompt.
  const beside = [call.tools, call.settings?.members].map((each) => (each ? JSON.stringify(each) : ""));
  const shape = Buffer.byteLength(format + beside.join(""));
  if (shape > LARGE) await turn();
  const texts = promptTexts(call);
  const pictures = call.messages.flatMap(promptPictures);
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const isCounted =
    model.tokenizer !== undefined && sizes.reduce((sum, size) => sum + size, 0) <= COUNTED_BYTES;
  let tokens = FRAME * (texts.length + 1) + tokensAtMost(model, shape);
  tokens += isCounted
    ? await countTokens(texts)
    : sizes.reduce((sum, size) => sum + tokensAtMost(model, size), 0);
  for (const picture of pictures) tokens += pictureTokensAtMost(model, picture);
  return { tokens, isCounted: isCounted && shape === 0 && pictures.length === 0 };
}

/** Upper bound for the tokens of embedded texts, including the framing of each. */
export const embeddedTokensAtMost = (model: ModelFacts, { texts }: EmbeddingCall): number =>
  texts.reduce((sum, text) => sum + FRAME + tokensAtMost(model, Buffer.byteLength(text)), 0);

/**
 * Upper bound for the tokens that another vocabulary makes per o200k_base token; the byte count is a
 * further bound.
 */
const OTHER_VOCABULARY = 2;
/**
 * Assumed maximum of bytes per token on average; ordinary text has fewer, although a long run of spaces can
 * have more.
 */
const MOST_TOKEN_BYTES = 6;

/**
 * Returns the possible number of tokens if it exceeds the limit; null if the texts fit under any vocabulary.
 * Tokens are counted only if the byte count decides nothing.
 */
export async function tokensAbove(model: ModelFacts, texts: string[], limit: number): Promise<number | null> {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const most = tokensAtMost(model, bytes);
  if (most <= limit) return null;
  const least = Math.ceil(bytes / (model.tokenBytes ?? MOST_TOKEN_BYTES));
  if (least > limit) return least;
  const counted = await countTokens(texts);
  const tokens = model.tokenizer ? counted : Math.min(most, counted * OTHER_VOCABULARY);
  return tokens > limit ? tokens : null;
}

/** Upper bound for the tokens that one more message adds to a call. */
export async function messageTokensAtMost(model: ModelFacts, text: string): Promise<number> {
  const bytes = Buffer.byteLength(text);
  const isCounted = model.tokenizer !== undefined && bytes <= COUNTED_BYTES;
  return FRAME + (isCounted ? await countTokens(text) : tokensAtMost(model, bytes));
}

/** Upper bound for the tokens that a repair call adds to the first call and its answer. */
export const repairTokensAtMost = (model: ModelFacts): number =>
  2 * FRAME + tokensAtMost(model, MAX_REPAIR_BYTES);
