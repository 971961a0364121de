import { type ChangeObject, diffArrays, diffWordsWithSpace } from "diff";

/** A part of a line, and whether it differs from the other side. */
export type Piece = { text: string; isChanged: boolean };
export type DiffLine = { number: number; pieces: Piece[] };
/** A line of the older text beside one of the newer; null where a side has none. */
export type DiffRow = { kind: "same" | "changed"; older: DiffLine | null; newer: DiffLine | null };

// Comparing two long texts with nothing in common could freeze the page: past this limit both are shown in full.
const LINES_TIMEOUT_MS = 400;
const WORDS_TIMEOUT_MS = 400;
/** Lines that share a smaller part than this are shown as different lines, because word marks would only confuse. */
const LEAST_ALIKE = 0.35;

/** Compares two texts line by line, and changed lines word by word. A null text has no lines. */
export function diffLines(older: string | null, newer: string | null): DiffRow[] {
  const [before, after] = [linesOf(older), linesOf(newer)];
  const changes = diffArrays(before, after, { timeout: LINES_TIMEOUT_MS }) ?? replaced(before, after);
  const rows: DiffRow[] = [];
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

/** A block of removed lines beside the block that replaced it. */
function paired(removed: string[], added: string[], place: Place): DiffRow[] {
  return Array.from({ length: Math.max(removed.length, added.length) }, (_, index): DiffRow => {
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

export type UnifiedLine = { sign: " " | "-" | "+"; line: DiffLine };

/** Puts rows into one column: in each changed block the old lines, then the new. */
export function unified(rows: readonly DiffRow[]): UnifiedLine[] {
  const lines: UnifiedLine[] = [];
  let block: DiffRow[] = [];
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

export type Stretch = { kind: "shown" | "folded"; rows: DiffRow[] };

/** Splits rows into visible ones and folded unchanged stretches, whose edges stay visible. */
export function folded(rows: readonly DiffRow[], context = 3): Stretch[] {
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
  // Folding one or two lines saves nothing.
  return stretches.map((each) => (each.rows.length < 3 ? { ...each, kind: "shown" } : each));
}
