const UNITS = { w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

/** When something is due: after so many milliseconds (by the database's clock) or at an instant. */
export type Due = { ms: number } | { at: string };

/** Reads the SDK's time strings: a duration such as `1d2h30s`, or an ISO instant. */
export function toDue(text: string): Due {
  if (/^\d{4}-/.test(text)) return { at: new Date(text).toISOString() };
  let ms = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([wdhms])/g)) {
    ms += Number(count) * UNITS[unit as keyof typeof UNITS]; // the pattern admits these letters only
  }
  return { ms };
}

/** Milliseconds from now until it is due, never negative. */
export function msUntil(due: Due): number {
  return Math.max("ms" in due ? due.ms : Date.parse(due.at) - Date.now(), 0);
}

/** Pause before retry number `attempt` (1 is the first): 15 s doubling up to an hour, plus up to 30 % of jitter. */
export function backoffMs(attempt: number): number {
  return Math.min(15_000 * 2 ** (attempt - 1), 3_600_000) * (1 + Math.random() * 0.3);
}
