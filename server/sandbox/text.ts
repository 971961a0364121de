import { isRepair, messageWords, picturesOf, questionOf, wantedJson } from "./conversation";
import { evidenceFor, readDocumentTask } from "./evidence";
import { fromSchema } from "./json-schema/json-schema";
import { pickOne, type Random, randomFrom } from "./random";
import type { TextRequest } from "./requests";
import { resultsIn, toolCallsOf } from "./tools";
import { topicOf } from "./topic";
import { readTranslationTask, translate } from "./translation";

type Choice = {
  text: string;
  finishReason: "stop" | "length" | "tool_calls";
  toolCalls: { id: string; name: string; arguments: string }[];
};
export type TextAnswer = Choice & {
  others?: Choice[];
  usage: { inputTokens: number; outputTokens: number; reasoningTokens: number };
};

/** The sandbox's tokens: UTF-8 bytes divided by four, rounded up. */
const countTokens = (text: string) => Math.ceil(Buffer.byteLength(text) / 4);

const tokensOf = (message: TextRequest["messages"][number]) =>
  countTokens(messageWords(message)) +
  (message.toolCalls ?? []).reduce((sum, call) => sum + countTokens(call.name + call.arguments), 0);

/** Tokens of each picture. */
const IMAGE_TOKENS = 256;

const REASONING_TOKENS = { omit: 0, economy: 16, balanced: 64, deep: 256, maximum: 1024 } as const;

/** Answers a conversation `choices` times. The same request always gets the same answer. */
export function answerText({ choices = 1, ...request }: TextRequest): TextAnswer {
  const seed = request.seed ?? 0;
  const [first, ...others] = Array.from({ length: choices }, (_, place) =>
    answerOnce(place === 0 ? request : { ...request, seed: seed + place }),
  );
  if (!first) throw new Error("at least one answer is asked for");
  if (others.length === 0) return first;
  const sum = (figure: "outputTokens" | "reasoningTokens") =>
    others.reduce((total, { usage }) => total + usage[figure], first.usage[figure]);
  return {
    ...first,
    others: others.map(({ usage: _, ...choice }) => choice),
    usage: {
      ...first.usage,
      outputTokens: sum("outputTokens"),
      reasoningTokens: sum("reasoningTokens"),
    },
  };
}

function answerOnce(request: TextRequest): TextAnswer {
  const question = questionOf(request);
  const pictures = picturesOf(request);
  const said = request.messages.map(({ toolCalls, ...message }) =>
    [`${message.role}:${messageWords(message)}`, ...(toolCalls ? [JSON.stringify(toolCalls)] : [])].join(
      "\n",
    ),
  );
  const seed = request.seed === undefined ? [] : [`seed:${request.seed}`];
  const random = randomFrom(
    [request.model, ...seed, ...said, ...pictures.map(({ digest }) => digest)].join("\n"),
  );
  const inputTokens =
    request.messages.reduce((sum, message) => sum + tokensOf(message), 0) + pictures.length * IMAGE_TOKENS;
  const cap = request.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  if (request.model === "sandbox-thinker" && wantedJson(request)) {
    const spent = request.maxOutputTokens ?? REASONING_TOKENS.maximum;
    return {
      text: "",
      finishReason: "length",
      toolCalls: [],
      usage: { inputTokens, outputTokens: spent, reasoningTokens: spent },
    };
  }

  const toolCalls = toolCallsOf(request, random);
  if (toolCalls.length > 0) {
    const outputTokens = toolCalls.reduce((sum, call) => sum + countTokens(call.name + call.arguments), 0);
    return {
      text: "",
      finishReason: "tool_calls",
      toolCalls,
      usage: { inputTokens, outputTokens, reasoningTokens: 0 },
    };
  }

  const whole = upTo(request.stop ?? [], compose(request, question, random));
  const text = cut(whole, cap);
  const textTokens = countTokens(text);
  const reasoningTokens = Math.min(
    REASONING_TOKENS[request.reasoningIntent ?? "omit"],
    Math.max(0, cap - textTokens),
  );
  return {
    text,
    finishReason: text === whole ? "stop" : "length",
    toolCalls: [],
    usage: { inputTokens, outputTokens: textTokens + reasoningTokens, reasoningTokens },
  };
}

function compose(request: TextRequest, question: string, random: Random): string {
  const wanted = wantedJson(request);
  const pictures = picturesOf(request);
  if (!wanted) {
    const seen = pictures.map(({ digest }) => ` [picture ${digest}]`).join("");
    const found = resultsIn(request).map(({ name, result }) => ` ${name} says: ${result}`);
    return `${reply(request.model, question, random)}${seen}${found.join("")}`;
  }
  const { model } = request;
  const isRepairing = isRepair(request);
  if (model === "sandbox-stubborn" || (model === "sandbox-malformed" && !isRepairing))
    return '{"answer": "unfinished';
  const task = readTranslationTask(question);
  if (task) {
    const items = translate(task);
    if (model === "sandbox-hollow") return JSON.stringify({ items: [] });
    // sandbox-careless forgets the last item, and in the others whatever must be kept.
    if (model === "sandbox-careless" && !isRepairing)
      return JSON.stringify({ items: items.slice(0, -1).map(({ id }) => ({ id, translation: "?" })) });
    return JSON.stringify({ items });
  }
  const evidence = readDocumentTask(question);
  if (evidence) {
    const items = model === "sandbox-hollow" ? [] : evidenceFor(evidence);
    // sandbox-careless quotes text that is not in the document.
    if (model === "sandbox-careless")
      return JSON.stringify({
        items: items.map((item) => ({ ...item, quote: `${item.quote}, more or less` })),
      });
    return JSON.stringify({ items });
  }
  if (model === "sandbox-hollow") return "{}";
  if (model === "sandbox-careless") return '"as you like"';
  const found = resultsIn(request).map(({ result }) => result);
  const words = [...pictures.map(({ digest }) => `picture-${digest}`), ...topicOf(question), ...found];
  if (wanted.schema) return JSON.stringify(fromSchema(wanted.schema, { random, words }));
  const answer = { answer: reply(model, question, random), topic: topicOf(question) };
  return JSON.stringify(pictures.length > 0 ? { ...answer, pictures } : answer);
}

const OPENINGS = [
  "Here is the short version",
  "In a few words",
  "Good question",
  "Gladly",
  "To the point",
] as const;
const MIDDLES = [
  "start small, look at what happens, and keep what works",
  "the simple reading is usually the right one",
  "two things matter: what goes in, and what you check at the end",
  "order helps: first the facts, then the choice",
  "it becomes clear once it is written down",
] as const;
const NOTES = ["On", "About", "Regarding", "Notes on"] as const;

/** Matches `in 3 paragraphs` or `in 40 sentences`: the answer has that many, at most a hundred. */
const LENGTH_WISH = /\b(\d{1,3}) (paragraphs|sentences)\b/i;

/** Splits a text into the pieces that are streamed: words with the white space before each. Joined, they are the text. */
export function piecesOf(text: string): string[] {
  return text.match(/\s*\S+(?:\s+$)?/g) ?? (text === "" ? [] : [text]);
}

function reply(model: string, question: string, random: Random): string {
  const topic = topicOf(question).join(", ") || "your request";
  const wish = LENGTH_WISH.exec(question);
  if (wish) {
    const count = Math.min(Math.max(Number(wish[1]), 1), 100);
    const one = (number: number) => `Point ${number} on ${topic}: ${pickOne(random, MIDDLES)}.`;
    const all = Array.from({ length: count }, (_, index) => one(index + 1));
    return `${all.join(wish[2]?.toLowerCase() === "paragraphs" ? "\n\n" : " ")} (sandbox)`;
  }
  return model === "sandbox-2"
    ? `${pickOne(random, NOTES)} ${topic}. First, ${pickOne(random, MIDDLES)}. Second, ${pickOne(random, MIDDLES)}. (sandbox)`
    : `${pickOne(random, OPENINGS)}, on ${topic}: ${pickOne(random, MIDDLES)}. (sandbox)`;
}

/** Cuts after this many tokens, never inside a character. */
function cut(text: string, tokens: number): string {
  const bytes = Buffer.from(text);
  if (bytes.byteLength <= tokens * 4) return text;
  let end = tokens * 4;
  // Bytes 10xxxxxx continue a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString("utf8");
}

/** The text before the first of these stop words. */
function upTo(stops: string[], text: string): string {
  const found = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0);
  return text.slice(0, Math.min(...found, text.length));
}
