import type { Micros } from "@/server/money";
import type { ModelFacts, Price, TextCall, Usage } from "@/server/providers/define";

const MILLION = 1_000_000;

/** Tokens of text, as an upper bound: no tokenizer in use makes more tokens than the text has UTF-8 bytes. */
export function tokensAtMost(model: ModelFacts, text: string): number {
  const bytes = Buffer.byteLength(text);
  return model.tokenBytes ? Math.ceil(bytes / model.tokenBytes) : bytes;
}

/** Tokens of a whole call, as an upper bound: its texts, and 16 for the frame of each message and of the call. */
export function inputTokensAtMost(model: ModelFacts, call: TextCall): number {
  const format = call.responseFormat.type === "json_schema" ? JSON.stringify(call.responseFormat.schema) : "";
  const tools = call.tools ? JSON.stringify(call.tools) : "";
  const texts = call.messages.reduce((sum, message) => sum + tokensAtMost(model, message.content) + 16, 16);
  return texts + tokensAtMost(model, format + tools);
}

/** Micros for this usage at a list price, rounded up to a whole micro. Null: the usage does not tell. */
export function priceOf(
  price: Price,
  usage: Usage,
  image: { quality?: string; pixels?: number } = {},
): Micros | null {
  if (price.per === "image") {
    if (usage.images === undefined) return null;
    return usage.images * imagePrice(price, image);
  }
  if (usage.inputTokens === undefined || usage.outputTokens === undefined) return null;
  const cached = Math.min(usage.cachedInputTokens ?? 0, usage.inputTokens);
  const input = (usage.inputTokens - cached) * price.input + cached * (price.cachedInput ?? price.input);
  return Math.ceil((input + usage.outputTokens * price.output) / MILLION);
}

/** One image of this quality and size: never less than is listed, and more in proportion above the listed size. */
function imagePrice(
  price: Extract<Price, { per: "image" }>,
  { quality, pixels = 0 }: { quality?: string; pixels?: number },
): Micros {
  const listed: Partial<Record<string, Micros>> = price.micros;
  const micros = (quality ? listed[quality] : undefined) ?? price.default;
  return pixels <= price.pixels ? micros : Math.ceil((micros * pixels) / price.pixels);
}

/** Service fee on an upstream amount: basis points, rounded half up once, on the total. */
export function serviceFee(upstreamMicros: Micros, bps: number): Micros {
  return Math.floor((upstreamMicros * bps + 5_000) / 10_000);
}
