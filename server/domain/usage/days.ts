import { ulidAt } from "@/server/platform/ids";
import { DAY_MS } from "@/server/platform/time/units";

/**
 * A day in UTC such as `2026-11-21`, with the range of ULIDs in the ids of executions submitted that day,
 * since ids sort by time.
 */
export type DayRange = { day: string; fromUlid: string; untilUlid: string };

export function dayAt(startMs: number): DayRange {
  return {
    day: new Date(startMs).toISOString().slice(0, 10),
    fromUlid: ulidAt(startMs),
    untilUlid: ulidAt(startMs + DAY_MS),
  };
}

export const startOfDay = (at: Date) => Math.floor(at.getTime() / DAY_MS) * DAY_MS;

/** Returns the days from the first time up to the second, exclusive. */
function daysBetween(startMs: number, endMs: number): DayRange[] {
  const days: DayRange[] = [];
  for (let at = startMs; at < endMs; at += DAY_MS) days.push(dayAt(at));
  return days;
}

/** Returns the last `count` days, including today. */
export function lastDays(count: number, now: Date): DayRange[] {
  const today = startOfDay(now);
  return daysBetween(today - (count - 1) * DAY_MS, today + DAY_MS);
}
