import { MAX_REPAIR_BYTES, SCHEMA_NAME } from "@/server/capabilities/define";
import { countTokens } from "@/server/platform/text/tokenizer";
import { LARGE, turn } from "@/server/platform/time/turn";
import {
  type EmbeddingCall,
  type ModelFacts,
  type TextCall,
  type TextMessage,
  textOf,
} from "@/server/providers/define";
import { picturesOf, pictureTokensAtMost } from "@/server/providers/pictures";

/** Text beyond this many bytes is bounded, not counted. */
const COUNTED_BYTES = 256 * 1024;
/** Of each message and of the call: what a provider frames them with. */
const FRAME = 16;

/** Who wrote a message, what its server wants back of it, the tools it calls, or the call it answers, as text; each is framed as a message is. */
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

/** All that the messages of a call say, pictures aside. */
export const wordsOf = ({ messages }: Pick<TextCall, "messages">): string[] =>
  messages.flatMap((message) => [textOf(message), ...besideText(message)]);

/** Tokens of text, as an upper bound: no tokenizer in use makes more tokens than the text has UTF-8 bytes. */
function tokensAtMost(model: ModelFacts, bytes: number): number {
  return model.tokenBytes ? Math.ceil(bytes / model.tokenBytes) : bytes;
}

/** A caller's name for the schema; the frame of the call has room for our own. */
const nameOf = ({ name }: { name: string }) => (name === SCHEMA_NAME ? "" : name);

/**
 * Tokens a call has at most. Its messages are counted with the model's own tokenizer, where it has one and they have at
 * most 256 KiB, and bounded by their bytes otherwise; schemas and tools, which vendors write into the prompt in ways of
 * their own, always by their bytes. `isCounted`: nothing was bounded by bytes.
 */
export async function inputTokensAtMost(
  model: ModelFacts,
  call: TextCall,
): Promise<{ tokens: number; isCounted: boolean }> {
  const format =
    call.responseFormat.type === "json_schema"
      ? nameOf(call.responseFormat) + JSON.stringify(call.responseFormat.schema)
      : "";
  // A server may write members it is passed into the prompt, too.
  const beside = [call.tools, call.settings?.members].map((each) => (each ? JSON.stringify(each) : ""));
  const shape = Buffer.byteLength(format + beside.join(""));
  if (shape > LARGE) await turn();
  const texts = wordsOf(call);
  const pictures = call.messages.flatMap(picturesOf);
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

/** Tokens that texts have at most which are embedded, each with what a server frames it with. */
export const embeddedTokensAtMost = (model: ModelFacts, { texts }: EmbeddingCall): number =>
  texts.reduce((sum, text) => sum + FRAME + tokensAtMost(model, Buffer.byteLength(text)), 0);

/** Another vocabulary makes at most so many tokens for each that o200k_base makes, and never more than there are bytes. */
const OTHER_VOCABULARY = 2;
/** No vocabulary in use packs more than this many bytes into a token on average. */
const MOST_TOKEN_BYTES = 6;

/**
 * The tokens that texts may have, where that is more than a limit; null: they fit, whichever vocabulary reads them. An
 * upper bound: what passes here is not refused by the model for its length. Counts only what neither certainly fits nor
 * certainly does not.
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

/** Tokens that one more message adds to a call, as an upper bound by the same rules. */
export async function messageTokensAtMost(model: ModelFacts, text: string): Promise<number> {
  const bytes = Buffer.byteLength(text);
  const isCounted = model.tokenizer !== undefined && bytes <= COUNTED_BYTES;
  return FRAME + (isCounted ? await countTokens(text) : tokensAtMost(model, bytes));
}

/** What the call that gives an answer back says besides the first call and that answer. */
export const repairTokensAtMost = (model: ModelFacts): number =>
  2 * FRAME + tokensAtMost(model, MAX_REPAIR_BYTES);
