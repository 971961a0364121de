/** A position in a cursor-paginated list, as its URL has it. */
export type PagePosition = {
  cursor?: string | undefined;
  /** The cursors of the previous pages but the first, which has none, joined by dots, so that "Newer" can go back. */
  trail?: string | undefined;
};
export type SearchParams = Record<string, string | string[] | undefined>;

/** Search parameters as single values; the first of a repeated one wins. */
export function singleValues(params: SearchParams): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}

/** The URL of a list state; without filters or a position it is the bare path. */
export function hrefOf(path: string, state: Record<string, string | undefined>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) if (value) params.set(name, value);
  const query = params.toString();
  return `${path}${query && `?${query}`}`;
}

/** The first page, for a list whose filters change. */
export const FIRST_PAGE = { cursor: undefined, trail: undefined } as const satisfies PagePosition;

/** The page after this one. */
export function olderPage<State extends PagePosition>(state: State, nextCursor: string): State {
  const trail = state.cursor ? [state.trail, state.cursor].filter(Boolean).join(".") : undefined;
  return { ...state, cursor: nextCursor, trail };
}

/** The page before this one; null on the first. */
export function newerPage<State extends PagePosition>(state: State): State | null {
  if (!state.cursor) return null;
  const trail = state.trail?.split(".") ?? [];
  const cursor = trail.pop();
  return { ...state, cursor, trail: trail.join(".") || undefined };
}
