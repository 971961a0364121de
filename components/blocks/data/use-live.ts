"use client";
import { type QueryKey, type UseSuspenseQueryOptions, useSuspenseQuery } from "@tanstack/react-query";

const LIVE_MS = 2_000;
const IDLE_MS = 15_000;

/** The polling interval: short while something changes without the reader, otherwise long. */
export const soonWhile =
  <Read>(isMoving: (read: Read) => boolean) =>
  (read: Read): number =>
    isMoving(read) ? LIVE_MS : IDLE_MS;

/**
 * A query that is refetched after this many milliseconds; `false` if its data can no longer change. `isStale` is true if the
 * last refetch failed, so that the data may be out of date.
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
