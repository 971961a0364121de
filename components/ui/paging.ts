import { z } from "zod";

/** A place in a list that is read by cursor, as its address carries it. */
export type Place = {
  cursor?: string | undefined;
  /** The cursors of the pages before this one, newest page first, joined by dots; how "Newer" finds its way back. */
  trail?: string | undefined;
};
export type SearchParams = Record<string, string | string[] | undefined>;

/** Search parameters as single values; of a repeated one the first counts. */
export function singleValues(params: SearchParams): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}

/** The address of a state of a list; without a filter or a place it is the bare path. */
export function hrefOf(path: string, state: Record<string, string | undefined>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) if (value) params.set(name, value);
  const query = params.toString();
  return `${path}${query && `?${query}`}`;
}

/** Reads a place from an address. What is no cursor of the list counts as absent, as does a trail that grew too long. */
export const placeFields = (cursor: RegExp) => ({
  cursor: z.string().regex(cursor).optional().catch(undefined),
  trail: z.string().max(2_000).optional().catch(undefined),
});

/** A cursor that is the id of the last thing shown. */
export const idCursor = (prefix = "[a-z]{1,8}"): RegExp => new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`);

/** Where a list begins: for whoever changes what it shows. */
export const FIRST_PAGE = { cursor: undefined, trail: undefined } as const satisfies Place;

/** The page after this one. */
export function olderPage<State extends Place>(state: State, nextCursor: string): State {
  const trail = state.cursor ? [state.trail, state.cursor].filter(Boolean).join(".") : undefined;
  return { ...state, cursor: nextCursor, trail };
}

/** The page before this one; null on the first. */
export function newerPage<State extends Place>(state: State): State | null {
  if (!state.cursor) return null;
  const trail = state.trail?.split(".") ?? [];
  const cursor = trail.pop();
  return { ...state, cursor, trail: trail.join(".") || undefined };
}
