/*
 * Counts OpenAI's o200k_base tokens exactly, with js-tiktoken's vocabulary. The counting is ours: the package's takes
 * quadratic time in the longest word, which a caller chooses; ours takes n log n and yields.
 */

import { inTurns } from "@/server/platform/time/turn";
import { openLongWords } from "./long-word";

/** Yields after every so many steps, of a long word too. */
const STEPS = 512;

type Vocabulary = {
  /** Tokens as strings of one character per byte, by the order in which they are merged. */
  ranks: Map<string, number>;
  /** Cuts text into the pieces that are encoded separately. */
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

/** Text is cut into stretches of about this many characters, so that no piece is looked for in the whole text. */
const STRETCH = 16_384;

/** How many o200k_base tokens a text is. Words of special tokens count as the plain text they are. */
export async function countTokens(text: string): Promise<number> {
  loading ??= load();
  return inTurns(counted(text, await loading));
}

function* counted(text: string, vocabulary: Vocabulary): Generator<undefined, number> {
  let count = 0;
  let pieces = 0;
  for (const stretch of stretchesOf(text)) {
    for (let at = 0; at < stretch.length; ) {
      const end = (yield* endOfLongWord(stretch, at)) ?? endOfPiece(stretch, at, vocabulary);
      const piece = stretch.slice(at, end);
      at = end;
      if (++pieces % STEPS === 0 || piece.length > STRETCH) yield;
      // A lone surrogate is encoded as the replacement character, like everywhere.
      const bytes = isAscii(piece) ? piece : Buffer.from(piece).toString("latin1");
      const isToken = bytes.length <= vocabulary.longest && vocabulary.ranks.has(bytes);
      count += isToken ? 1 : yield* tokensOfPiece(bytes, vocabulary);
    }
  }
  return count;
}

const endOfLongWord = openLongWords();

/** Each character is part of a piece, so one begins wherever another has ended. */
function endOfPiece(text: string, at: number, { pieces }: Vocabulary): number {
  pieces.lastIndex = at;
  return pieces.test(text) ? pieces.lastIndex : text.length;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with control characters
const isAscii = (text: string) => /^[\x00-\x7f]*$/.test(text);

/** The text cut where a cut changes no piece: after a line's end, before a letter or a digit. */
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

/** A piece that is no token itself: its bytes are merged pair by pair, the earliest learned pair first, from the left. */
function* tokensOfPiece(bytes: string, { ranks, longest }: Vocabulary): Generator<undefined, number> {
  const length = bytes.length;
  // Parts by where they begin: where the next one begins, where the one before does, and the rank of both joined.
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
    if (joined[at] !== Math.floor(best / POSITIONS)) continue; // of parts that are joined otherwise by now
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

/** Above every position in a piece; ranks times this stay exact. */
const POSITIONS = 2 ** 30;

/** At most so many numbers at once, the smallest first. A list that grows would be copied whole again and again. */
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
