import { ValidationFault } from "@/server/platform/errors/errors";
import { type IdKind, idSchema } from "@/server/platform/ids";

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
 * The page of a list whose query read one row more than `limit`. `nextCursor`, the id of the last row, exists only where
 * another page follows.
 */
export function toPage<Row extends { id: string | number }, Item>(
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => Item,
): { items: Item[]; nextCursor?: string } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page.map((row) => view(row)),
    ...(rows.length > limit && last ? { nextCursor: String(last.id) } : {}),
  };
}

/** The same for lists whose last page has `nextCursor: null`. */
export function nullEndedPageOf<Row extends { id: string | number }, Item>(
  rows: readonly Row[],
  limit: number,
  view: (row: Row) => Item,
): { items: Item[]; nextCursor: string | null } {
  const { items, nextCursor = null } = toPage(rows, limit, view);
  return { items, nextCursor };
}
