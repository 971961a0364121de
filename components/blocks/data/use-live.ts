"use client";
import { type QueryKey, type UseSuspenseQueryOptions, useSuspenseQuery } from "@tanstack/react-query";

const LIVE_MS = 2_000;
const IDLE_MS = 15_000;

/** Soon again while something changes without the reader, else now and then. */
export const soonWhile =
  <Read>(isMoving: (read: Read) => boolean) =>
  (read: Read): number =>
    isMoving(read) ? LIVE_MS : IDLE_MS;

/**
 * What the server has, read again after so many milliseconds; `false`: it can no longer change. `isStale`: the last try to
 * read it again failed, so that what is shown may have changed meanwhile.
 */
export function useLive<Read, Failure, Data, Key extends QueryKey>(
  options: UseSuspenseQueryOptions<Read, Failure, Data, Key>,
  again: number | ((read: Read) => number | false) = IDLE_MS,
): { data: Data; isStale: boolean; dataUpdatedAt: number } {
  const { data, isRefetchError, dataUpdatedAt } = useSuspenseQuery({
    ...options,
    refetchInterval: ({ state }) => {
      if (typeof again === "number") return again;
      return state.data === undefined ? false : again(state.data);
    },
  });
  return { data, isStale: isRefetchError, dataUpdatedAt };
}
