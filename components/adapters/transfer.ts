/** How much of a file had been sent at a time. */
export type Sample = { atMs: number; sent: number };

/** As long as this back the rate is measured: short enough to follow a network that changes, long enough not to flicker. */
const WINDOW_MS = 5_000;
/** Before this much time nothing is said of a rate. */
const SOONEST_MS = 400;

/** The samples with one more; what is older than the window is forgotten, but for the last before it. */
export function withSample(samples: readonly Sample[], next: Sample): Sample[] {
  const since = next.atMs - WINDOW_MS;
  const first = samples.findLastIndex(({ atMs }) => atMs <= since);
  return [...samples.slice(Math.max(first, 0)), next];
}

export type Progress = {
  sent: number;
  percent: number;
  bytesPerSecond: number | null;
  secondsLeft: number | null;
};

/** How far a transfer is, how fast it goes and how long it will still take; null where nobody can tell yet. */
export function progressOf(samples: readonly Sample[], total: number): Progress {
  const [first, last] = [samples[0], samples.at(-1)];
  const sent = Math.min(last?.sent ?? 0, total);
  const percent = total === 0 ? 100 : Math.floor((sent / total) * 100);
  const elapsedMs = first && last ? last.atMs - first.atMs : 0;
  if (!first || !last || elapsedMs < SOONEST_MS)
    return { sent, percent, bytesPerSecond: null, secondsLeft: null };
  const bytesPerSecond = ((last.sent - first.sent) * 1000) / elapsedMs;
  const secondsLeft = bytesPerSecond > 0 ? Math.ceil((total - sent) / bytesPerSecond) : null;
  return { sent, percent, bytesPerSecond, secondsLeft };
}
