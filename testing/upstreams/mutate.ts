import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from "node:zlib";
import fc from "fast-check";
import { parseForeignJson } from "@/server/platform/text/json-text";
import type { Answer, Piece, UpstreamCase } from "./upstream";

/* Ways in which an answer is corrupted on its way: pieces out of order, cut, repeated, dropped, renamed or truncated. */

export type Mutation =
  | { how: "swap" | "repeat" | "drop" | "truncate"; at: number }
  | { how: "rename"; at: number; member: string }
  | { how: "split" };

/** Members that carry an end, a text or a usage; a mutation may rename each. */
const MEMBERS = ["finish_reason", "choices", "delta", "message", "content", "usage", "prompt_tokens", "data"];

export const mutations: fc.Arbitrary<Mutation[]> = fc.array(
  fc.oneof(
    fc.record({ how: fc.constantFrom("swap", "repeat", "drop", "truncate"), at: fc.nat(400) }),
    fc.record({ how: fc.constant("rename"), at: fc.nat(400), member: fc.constantFrom(...MEMBERS) }),
    fc.constant({ how: "split" } as const),
  ) as fc.Arbitrary<Mutation>, // every record above is a mutation
  { minLength: 1, maxLength: 4 },
);

/** The pieces of an answer; a whole body is one piece. */
const piecesOf = ({ body }: Answer): Piece[] => (Array.isArray(body) ? [...body] : [JSON.stringify(body)]);

/** An answer after its mutations. */
export function mutated(answer: Answer, changes: readonly Mutation[]): Answer {
  return { ...answer, body: changes.reduce(changed, piecesOf(answer)) };
}

function changed(pieces: Piece[], mutation: Mutation): Piece[] {
  if (mutation.how === "split")
    return pieces.flatMap((piece): Piece[] => (isText(piece) ? [...piece] : [piece]));
  if (pieces.length === 0) return pieces;
  const at = mutation.at % pieces.length;
  const piece = pieces[at]!;
  const before = pieces.slice(0, at);
  const after = pieces.slice(at + 1);
  switch (mutation.how) {
    case "swap":
      return [...before, ...after.slice(0, 1), piece, ...after.slice(1)];
    case "repeat":
      return [...before, piece, piece, ...after];
    case "drop":
      return [...before, ...after];
    case "truncate":
      return isText(piece) ? [...before, piece.slice(0, mutation.at % (piece.length + 1))] : before;
    case "rename":
      return isText(piece)
        ? [...before, piece.replaceAll(`"${mutation.member}"`, `"x_${mutation.member}"`), ...after]
        : pieces;
  }
}

const isText = (piece: Piece): piece is string => typeof piece === "string" && piece !== "reset";

/** The received bytes as one text, decoded if the coding is known. */
function textOfAnswer({ headers = {}, body }: Answer): string {
  if (!Array.isArray(body)) return JSON.stringify(body);
  const sent = body.filter((piece) => piece instanceof Uint8Array || isText(piece));
  const bytes = Buffer.concat(sent.map((piece) => Buffer.from(piece as string))); // a piece is text or bytes
  return headers["content-encoding"] ? decoded(bytes) : bytes.toString();
}

function decoded(bytes: Buffer): string {
  for (const decode of [gunzipSync, brotliDecompressSync, inflateSync, inflateRawSync])
    try {
      return decode(bytes).toString();
    } catch {
      // Another content coding, or an invalid one.
    }
  return "";
}

/** Patterns by dialect. The bytes of every answer that ended contain a match. */
const ENDS: Record<string, RegExp> = {
  chat: /"finish_reason"\s*:\s*"[^"]|\[DONE\]/,
  responses: /response\.(completed|incomplete)|"status"\s*:\s*"(completed|incomplete)"/,
  messages: /message_stop|"stop_reason"\s*:\s*"[^"]/,
  gemini: /"finishReason"\s*:\s*"[^"]|"blockReason"/,
};

/** True if the answer has anything that could be its end. A whole body ends if it is one JSON object or list. */
export function hasAnEnd({ dialect }: UpstreamCase, answer: Answer): boolean {
  const text = textOfAnswer(answer);
  if (!/^\s*(data|event|:|id|retry)/m.test(text)) {
    try {
      return typeof parseForeignJson(text) === "object";
    } catch {
      // Not a whole body: a stream that lost its framing is judged by its words.
    }
  }
  return ENDS[dialect]?.test(text) ?? true;
}
