/*
 * Counts OpenAI's o200k_base tokens exactly, with js-tiktoken's vocabulary. The counting is our own: the package's takes
 * quadratic time in the longest word, which a caller chooses; ours takes n log n and yields.
 */

import { inTurns } from "@/server/platform/time/turn";
import { openLongWords } from "./long-word";

/** Steps between two yields, within a long word too. */
const STEPS = 512;

type Vocabulary = {
  /** Tokens as strings of one character per byte, with their rank in the order of merges. */
  ranks: Map<string, number>;
  /** Matches the pieces of a text that are encoded separately. */
  pieces: RegExp;
  longest: number;
};

let loading: Promise<Vocabulary> | undefined;

async function load(): Promise<Vocabulary> {
  const { default: data } = await import("js-tiktoken/ranks/o200k_base");
  return inTurns(vocabularyOf(data));
}

function* vocabularyOf(data: { bpe_ranks: string; pat_str: string }): Generator<undefined, Vocabulary> {
  const ranks = new Map<string, number>();
  let longest = 0;
  for (const line of data.bpe_ranks.split("\n")) {
    const [, offset, ...tokens] = line.split(" ");
    for (const [place, token] of tokens.entries()) {
      if (place % STEPS === 0) yield;
      const bytes = Buffer.from(token, "base64").toString("latin1");
      ranks.set(bytes, Number(offset) + place);
      longest = Math.max(longest, bytes.length);
    }
  }
  return { ranks, pieces: new RegExp(data.pat_str, "uy"), longest };
}

/** Text is cut into stretches of about this many characters, so that no piece is searched in the whole text. */
const STRETCH = 16_384;

/**
 * Number of o200k_base tokens of a text, or of several texts in total; yields to other work. Names of special tokens count as
 * plain text.
 */
export async function countTokens(texts: string | readonly string[]): Promise<number> {
  loading ??= load();
  return inTurns(counted(typeof texts === "string" ? [texts] : texts, await loading));
}

function* inStretches(texts: readonly string[]): Generator<string> {
  for (const text of texts) yield* stretchesOf(text);
}

function* counted(texts: readonly string[], vocabulary: Vocabulary): Generator<undefined, number> {
  let count = 0;
  let pieces = 0;
  for (const stretch of inStretches(texts)) {
    for (let at = 0; at < stretch.length; ) {
      const end = (yield* endOfLongWord(stretch, at)) ?? endOfPiece(stretch, at, vocabulary);
      const piece = stretch.slice(at, end);
      at = end;
      if (++pieces % STEPS === 0 || piece.length > STRETCH) yield;
      // Buffer.from encodes a lone surrogate as the replacement character.
      const bytes = isAscii(piece) ? piece : Buffer.from(piece).toString("latin1");
      const isToken = bytes.length <= vocabulary.longest && vocabulary.ranks.has(bytes);
      count += isToken ? 1 : yield* tokensOfPiece(bytes, vocabulary);
    }
  }
  return count;
}

const endOfLongWord = openLongWords();

/** Each character is part of a piece, so a piece begins wherever another has ended. */
function endOfPiece(text: string, at: number, { pieces }: Vocabulary): number {
  pieces.lastIndex = at;
  return pieces.test(text) ? pieces.lastIndex : text.length;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with control characters
const isAscii = (text: string) => /^[\x00-\x7f]*$/.test(text);

/** Cuts the text at places that change no piece: after a line's end, before a letter or a digit. */
function stretchesOf(text: string): string[] {
  if (text.length <= STRETCH) return [text];
  const cuts = /(?<=\n)(?=[\p{L}\p{N}])/gu;
  const stretches: string[] = [];
  let from = 0;
  for (cuts.lastIndex = STRETCH; cuts.test(text); cuts.lastIndex = from + STRETCH) {
    stretches.push(text.slice(from, cuts.lastIndex));
    from = cuts.lastIndex;
  }
  return [...stretches, text.slice(from)];
}

/**
 * Counts the tokens of a piece that is not one itself: its bytes are merged pair by pair, the earliest learned pair first, from
 * the left.
 */
function* tokensOfPiece(bytes: string, { ranks, longest }: Vocabulary): Generator<undefined, number> {
  const length = bytes.length;
  // All three arrays have an entry per start of a part: the start of the next part, the start of the one before, and the rank of
  // this part joined with the next.
  const next = new Int32Array(length);
  const before = new Int32Array(length + 1);
  const joined = new Int32Array(length);
  const queue = makeQueue(2 * length);
  const look = (at: number) => {
    const middle = next[at]!;
    const end = middle < length ? next[middle]! : length + 1;
    const rank = end > length || end - at > longest ? undefined : ranks.get(bytes.slice(at, end));
    joined[at] = rank ?? -1;
    if (rank !== undefined) queue.put(rank * POSITIONS + at);
  };
  for (let at = 0; at <= length; at++) {
    if (at % STEPS === STEPS - 1) yield;
    if (at < length) next[at] = at + 1;
    before[at] = at - 1;
  }
  for (let at = 0; at < length; at++) {
    if (at % STEPS === STEPS - 1) yield;
    look(at);
  }
  let parts = length;
  let steps = 0;
  for (let best = queue.take(); best !== undefined; best = queue.take()) {
    if (++steps % STEPS === 0) yield;
    const at = best % POSITIONS;
    if (joined[at] !== Math.floor(best / POSITIONS)) continue; // its parts have been joined otherwise since
    const middle = next[at]!;
    next[at] = next[middle]!;
    before[next[middle]!] = at;
    joined[middle] = -1;
    parts--;
    look(at);
    if (before[at]! >= 0) look(before[at]!);
  }
  return parts;
}

/** Larger than every position in a piece; a rank times this is still exact. */
const POSITIONS = 2 ** 30;

/**
 * A queue of at most `most` numbers, smallest first. Its array is allocated once, because a growing list would be copied again
 * and again.
 */
function makeQueue(most: number) {
  const heap = new Float64Array(most);
  let count = 0;
  return {
    put(value: number) {
      let at = count++;
      while (at > 0) {
        const parent = (at - 1) >> 1;
        if (heap[parent]! <= value) break;
        heap[at] = heap[parent]!;
        at = parent;
      }
      heap[at] = value;
    },
    take(): number | undefined {
      if (count === 0) return undefined;
      const first = heap[0];
      const last = heap[--count]!;
      let at = 0;
      for (let child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && heap[child + 1]! < heap[child]!) child++;
        if (heap[child]! >= last) break;
        heap[at] = heap[child]!;
        at = child;
      }
      heap[at] = last;
      return first;
    },
  };
}
