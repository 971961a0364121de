import { crc32 } from "node:zlib";
import { filled, placesOf, type Step, type toNode } from "../../testing/tenant-matrix/schema";

/*
 * Makes the largest and the strangest bodies that a schema lets through, or nearly: each place of text, each list and each field
 * of any JSON is filled in turn, up to a number of bytes.
 */

export type Schema = ReturnType<typeof toNode> & {
  maxLength?: number;
  maxItems?: number;
};
/** `make` makes the body, which may be large, only when it is asked for. */
export type Inflated = { where: string; how: string; make(): unknown };

/** The service takes at most 100,000 values a body, 64 levels deep (server/api/json-scan.ts). */
const MOST_VALUES = 90_000;
const LEVELS = 50;

/** Texts that are plain, or hard on code that cuts, trims, escapes or counts them; `bytes` is the size of one piece as JSON. */
const TEXTS: Record<string, [piece: string, bytes: number]> = {
  words: ["The lighthouse keeper counts the ships. ", 40],
  letters: ["a", 1],
  blanks: [" ", 1],
  lines: ["\n", 2],
  quotes: ['"', 2],
  marks: ["-", 1],
  pairs: ["\u{1f600}", 4],
};

/** Shapes that a field of any JSON can have: many values, many keys, many levels, long texts. */
const ANYTHING: Record<string, (bytes: number) => unknown> = {
  "many numbers": (bytes) => Array.from({ length: Math.min(MOST_VALUES, bytes / 7) }, (_, at) => at),
  "many keys": (bytes) =>
    Object.fromEntries(
      Array.from({ length: Math.min(MOST_VALUES, bytes / 20) }, (_, at) => [`k${at * 7919}`, at]),
    ),
  "many lists": (bytes) => Array.from({ length: Math.min(MOST_VALUES / 2, bytes / 6) }, () => [[]]),
  "deep lists": (bytes) =>
    Array.from({ length: Math.min(MOST_VALUES / LEVELS, bytes / (2 * LEVELS)) }, () =>
      Array.from({ length: LEVELS - 8 }).reduce((inner) => [inner], 1),
    ),
  "long texts": (bytes) => Array.from({ length: 8 }, () => "word ".repeat(bytes / 45)),
};

const SQUARE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAQAAAAEAAQMAAABmvDolAAAAA1BMVEX///+nxBvIAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAH0lEQVRo3u3BAQ0AAADCoPdPbQ43oAAAAAAAAAAAvg0hAAABfxmcpwAAAABJRU5ErkJggg==",
  "base64",
);
const AFTER_HEADER = 33;

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** Makes a picture with these chunks before its pixels, in base64. */
const pictureWith = (chunks: Buffer) =>
  Buffer.concat([SQUARE.subarray(0, AFTER_HEADER), chunks, SQUARE.subarray(AFTER_HEADER)]).toString("base64");

/** Bytes that base64 of so many characters has room for beside the square itself. */
const roomIn = (characters: number) => Math.max(0, Math.floor((characters * 3) / 4) - 400);

/** Makes pictures in base64 of so many characters: one large chunk, or as many small ones as there is room for. */
const PICTURES: Record<string, (characters: number) => string> = {
  "a large picture": (characters) => pictureWith(chunk("teSt", Buffer.alloc(roomIn(characters)))),
  "a picture of many pieces": (characters) => {
    const piece = chunk("teSt", Buffer.alloc(0));
    return pictureWith(Buffer.concat(Array.from({ length: roomIn(characters) / piece.length }, () => piece)));
  },
};

const isPicture = (steps: Step[]) => ["dataBase64", "data"].includes(String(steps.at(-1)));
const plain = (name: string) => (name.endsWith("id") ? "none" : "x");

/** Finds what a schema says about a place. Of several alternatives, the first one that contains the place is used. */
function nodeAt(root: Schema, steps: Step[]): Schema {
  const find = (given: Schema, rest: Step[]): Schema | undefined => {
    const node = (given.$ref ? root.$defs?.[given.$ref.split("/").at(-1) ?? ""] : given) as Schema;
    const [step, ...more] = rest;
    if (step === undefined && node.type) return node;
    const next = step === 0 ? node.items : step === undefined ? undefined : node.properties?.[step];
    const found = next && find(next as Schema, more);
    if (found) return found;
    for (const branch of [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])]) {
      const inside = find(branch as Schema, rest);
      if (inside) return inside;
    }
    return undefined;
  };
  return find(root, steps) ?? {};
}

/** Lists the bodies for a schema and a base value: in each, one place of the value is filled, up to about this many bytes. */
export function* inflated(root: Schema, base: unknown, bytes: number): Generator<Inflated> {
  for (const { steps } of placesOf(root)) {
    const where = steps.join(".") || "the body";
    const { maxLength, type } = nodeAt(root, steps);
    const put = (value: unknown) => filled(root, base, plain, { steps, value });
    const most = Math.min(bytes, maxLength ?? bytes);
    for (const [how, make] of Object.entries(valuesOf(steps, type !== "string", most)))
      yield { where, how, make: () => put(make()) };
    if (maxLength !== undefined && maxLength < bytes && !isPicture(steps))
      yield { where, how: "longer than allowed", make: () => put("word ".repeat(bytes / 5)) };
    const list = steps.lastIndexOf(0);
    if (list === -1) continue;
    // The item is repeated up to the allowed number, and up to 11,250; together the items are as large as the body may be.
    const { maxItems } = nodeAt(root, steps.slice(0, list));
    for (const count of new Set([maxItems ?? 1_000, MOST_VALUES / 8])) {
      const fill = (each: number) =>
        put(
          isPicture(steps)
            ? PICTURES["a large picture"]!(Math.min(each, most))
            : wordsOf(Math.min(each, most)),
        );
      const make = () => repeated(fill, steps.slice(0, list), count, bytes);
      yield { where, how: `in each of ${count}`, make };
    }
  }
}

const wordsOf = (length: number) => `${"word ".repeat(Math.max(0, length - 1) / 5)}x`;

function valuesOf(steps: Step[], isAnything: boolean, most: number): Record<string, () => unknown> {
  const values: Record<string, () => unknown> = {};
  if (isPicture(steps)) for (const [how, make] of Object.entries(PICTURES)) values[how] = () => make(most);
  for (const [how, [piece, size]] of Object.entries(TEXTS))
    values[how] = () => `${piece.repeat(Math.max(0, Math.floor(most / size) - 1))}x`;
  if (isAnything) for (const [how, make] of Object.entries(ANYTHING)) values[how] = () => make(most);
  return values;
}

/**
 * Makes a body whose list has `count` items, or as many as `bytes` has room for. Each item is filled so that together they are
 * about as large as the body may be.
 */
function repeated(fill: (each: number) => unknown, list: Step[], count: number, bytes: number): unknown {
  const sizeOf = (body: unknown) => JSON.stringify(listAt(body, list)[0] ?? null).length + 1;
  const each = Math.max(0, Math.floor(bytes / count) - sizeOf(fill(0)));
  const body = structuredClone(fill(each));
  const items = listAt(body, list);
  const [item] = items;
  const room = Math.floor(bytes / sizeOf(body));
  while (items.length < Math.min(count, room)) items.push(item);
  return body;
}

function listAt(body: unknown, steps: Step[]): unknown[] {
  let at = body;
  for (const step of steps) at = (at as Record<string, unknown>)[step === "*" ? "name" : step];
  return Array.isArray(at) ? at : [];
}
