import { type ChangeObject, diffArrays, diffWordsWithSpace } from "diff";

/** A part of a line, and whether the other side has it too. */
export type Piece = { text: string; isChanged: boolean };
export type Line = { number: number; pieces: Piece[] };
/** A line of the older text and one of the newer, side by side; null: that side has none here. */
export type Row = { kind: "same" | "changed"; older: Line | null; newer: Line | null };

// Two long texts with nothing in common are not worth a frozen page: past this they are simply both shown.
const LINES_TIMEOUT_MS = 400;
const WORDS_TIMEOUT_MS = 400;
/** Two lines of which less than this is the same are another line each; words marked in them would only confuse. */
const LEAST_ALIKE = 0.35;

/** What became of one text, line by line and in a changed line word by word. Null: there is no such text. */
export function diffLines(older: string | null, newer: string | null): Row[] {
  const [before, after] = [linesOf(older), linesOf(newer)];
  const changes = diffArrays(before, after, { timeout: LINES_TIMEOUT_MS }) ?? replaced(before, after);
  const rows: Row[] = [];
  const place = { older: 0, newer: 0, wordsUntil: Date.now() + WORDS_TIMEOUT_MS };
  let removed: string[] = [];
  const flush = (added: string[]) => {
    rows.push(...paired(removed, added, place));
    removed = [];
  };
  for (const { value, added, removed: isRemoved } of changes) {
    if (isRemoved) removed.push(...value);
    else if (added) flush(value);
    else {
      flush([]);
      for (const text of value) {
        const pieces = whole(text);
        rows.push({
          kind: "same",
          older: { number: ++place.older, pieces },
          newer: { number: ++place.newer, pieces },
        });
      }
    }
  }
  flush([]);
  return rows;
}

const linesOf = (text: string | null) => (text === null ? [] : text.split("\n"));
const whole = (text: string): Piece[] => [{ text, isChanged: false }];

function replaced(before: string[], after: string[]): ChangeObject<string[]>[] {
  return [
    { value: before, removed: true, added: false, count: before.length },
    { value: after, removed: false, added: true, count: after.length },
  ];
}

type Place = { older: number; newer: number; wordsUntil: number };

/** A block of removed lines beside the block that took its place. */
function paired(removed: string[], added: string[], place: Place): Row[] {
  return Array.from({ length: Math.max(removed.length, added.length) }, (_, index): Row => {
    const [was, is] = [removed[index], added[index]];
    const [older, newer] =
      was !== undefined && is !== undefined
        ? words(was, is, place.wordsUntil - Date.now())
        : [whole(was ?? ""), whole(is ?? "")];
    return {
      kind: "changed",
      older: was === undefined ? null : { number: ++place.older, pieces: older },
      newer: is === undefined ? null : { number: ++place.newer, pieces: newer },
    };
  });
}

function words(was: string, is: string, timeoutMs: number): [Piece[], Piece[]] {
  const parts = timeoutMs > 0 ? diffWordsWithSpace(was, is, { timeout: timeoutMs }) : undefined;
  const kept = parts?.reduce(
    (sum, part) => sum + (part.added || part.removed ? 0 : part.value.trim().length),
    0,
  );
  const isAlike = kept !== undefined && kept >= LEAST_ALIKE * Math.max(was.trim().length, is.trim().length);
  if (!parts || !isAlike) return [whole(was), whole(is)];
  const side = (other: "added" | "removed") =>
    parts
      .filter((part) => !part[other])
      .map((part) => ({ text: part.value, isChanged: part.added || part.removed }));
  return [side("added"), side("removed")];
}

export type UnifiedLine = { sign: " " | "-" | "+"; line: Line };

/** The same in one column: of each changed block first what was, then what is. */
export function unified(rows: readonly Row[]): UnifiedLine[] {
  const lines: UnifiedLine[] = [];
  let block: Row[] = [];
  const flush = () => {
    for (const { older } of block) if (older) lines.push({ sign: "-", line: older });
    for (const { newer } of block) if (newer) lines.push({ sign: "+", line: newer });
    block = [];
  };
  for (const row of rows) {
    if (row.kind === "changed") block.push(row);
    else {
      flush();
      if (row.newer) lines.push({ sign: " ", line: row.newer });
    }
  }
  flush();
  return lines;
}

export type Stretch = { kind: "shown" | "folded"; rows: Row[] };

/** Cuts rows into what is shown and long stretches that are the same, of which only the edges are. */
export function folded(rows: readonly Row[], context = 3): Stretch[] {
  const isNear = new Uint8Array(rows.length);
  rows.forEach(({ kind }, at) => {
    if (kind === "changed") isNear.fill(1, Math.max(0, at - context), at + context + 1);
  });
  const stretches: Stretch[] = [];
  rows.forEach((row, at) => {
    const kind = isNear[at] ? "shown" : "folded";
    const last = stretches.at(-1);
    if (last?.kind === kind) last.rows.push(row);
    else stretches.push({ kind, rows: [row] });
  });
  // Folding one or two lines would save nothing.
  return stretches.map((each) => (each.rows.length < 3 ? { ...each, kind: "shown" } : each));
}
