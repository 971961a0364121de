import { pool } from "@/server/platform/db";
import { ValidationFault } from "@/server/platform/errors/errors";
import { type IdKind, idSchema, madeAt, PREFIXES, ulidAt } from "@/server/platform/ids";
import { HOUR_MS } from "@/server/platform/time/units";
import { int8, maybe, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

/**
 * Maximum that one page reads for a filter that no index serves: entries of an index, or rows. A page that
 * reaches this bound returns what it found and a `nextCursor`, so its cost does not grow with the table.
 */
export const BOUND = { entries: 2_000, rows: 500 };

const LAST_MS = 2 ** 48 - 1; // of a ULID

/** The least id that can be made in this millisecond. */
const idAt = (kind: IdKind, atMs: number) =>
  `${PREFIXES[kind]}_${ulidAt(Math.min(LAST_MS, Math.max(0, atMs)))}`;

/**
 * The ids of a window of time, which bound the part of an index that is read. The window is an hour wider on each side, because an
 * id may be made before the time of its row, and a process whose clock was set back goes on from its last id.
 */
export const idsBetween = (kind: IdKind, after: Date | null, before: Date | null) => ({
  least: after && idAt(kind, after.getTime() - HOUR_MS),
  above: before && idAt(kind, before.getTime() + HOUR_MS),
});

/**
 * The cursor of a page that stops reading at this id: the least id of its millisecond. The id itself is not
 * used, because its row may be one that the caller must not see.
 */
export const floorOf = (kind: IdKind, id: string): string => idAt(kind, madeAt(id));

/**
 * Makes the function that finds where a page of a table stops if no index serves its filters: the floor after `most` entries of
 * one place (a project, an organization, a principal) before the page's cursor. Null if the place has fewer. An index must begin
 * with the column `place` and end with the id.
 */
export function pageFloor(
  name: string,
  { kind, table, place }: { kind: IdKind; table: "audit_entry" | "delivery" | "job"; place: string },
) {
  const readLast = statement(name, {
    params: { place: text, before: maybe(text), after: int8 },
    row: { id: text },
    sql: `SELECT id FROM ${table} WHERE ${place} = $place AND ($before::text IS NULL OR id < $before)
      ORDER BY id DESC OFFSET $after LIMIT 1`,
  });
  return async (
    value: string,
    before: string | null | undefined,
    most: number = BOUND.rows,
  ): Promise<string | null> => {
    const row = await readLast.first(pool, { place: value, before, after: most - 1 });
    return row && floorOf(kind, row.id);
  };
}

/** The page's floor; null if the page read to the least id of its window, since nothing follows then. */
export const floorWithin = (floor: string | null, least: string | null | undefined) =>
  floor !== null && least && floor <= least ? null : floor;

/** The greater of two ids of one kind; if one is null, the other. */
export const laterOf = (one: string | null, other: string | null) =>
  one !== null && other !== null && one < other ? other : (one ?? other);
/** The lesser of two ids of one kind; if one is null, the other. */
export const earlierOf = (one: string | null, other: string | null) =>
  one !== null && other !== null && one < other ? one : (other ?? one);

/** The id that a page starts after; null for the first page. A cursor that is not an id of the list's kind is a 422. */
export function readCursor(kind: IdKind, cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  return idSchema(kind).safeParse(cursor).success ? cursor : refuseCursor();
}

/** The 422 for a cursor that this list never returned. */
export function refuseCursor(): never {
  throw new ValidationFault([
    {
      loc: ["query", "cursor"],
      msg: "This cursor is not valid for this list. Start again without a cursor.",
      type: "value_error",
    },
  ]);
}

/**
 * The page of a list whose query read one row more than `limit`. `nextCursor` is the id of the last row if
 * another page follows. Otherwise it is `floor`, where a page stopped that reached its bound; absent if that is
 * null.
 */
export function toPage<Row extends { id: string | number }, Item>(
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => Item,
  floor: string | null = null,
): { items: Item[]; nextCursor?: string } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const next = rows.length > limit && last ? String(last.id) : floor;
  return { items: page.map((row) => view(row)), ...(next === null ? {} : { nextCursor: next }) };
}

/** Like `toPage`, for lists whose last page has `nextCursor: null`. */
export function nullEndedPageOf<Row extends { id: string | number }, Item>(
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => Item,
  floor: string | null = null,
): { items: Item[]; nextCursor: string | null } {
  const { items, nextCursor = null } = toPage(rows, limit, view, floor);
  return { items, nextCursor };
}
