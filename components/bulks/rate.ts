/** How many items of a bulk had ended at a moment. */
export type Sample = { atMs: number; ended: number };

/** The last seconds that a rate is measured over. */
const WINDOW_MS = 30_000;

/** The samples of the window with the one just read; the one before the window stays, so that it is always full. */
export function withSample(samples: readonly Sample[], next: Sample): readonly Sample[] {
  const last = samples.at(-1);
  if (last && next.atMs <= last.atMs) return samples;
  const since = next.atMs - WINDOW_MS;
  const within = samples.findIndex(({ atMs }) => atMs > since);
  const kept = within === -1 ? samples.slice(-1) : samples.slice(Math.max(0, within - 1));
  return [...kept, next];
}

/** Items a second over the window, as measured; null before there are two readings. */
export function rateOf(samples: readonly Sample[]): number | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || last.atMs === first.atMs) return null;
  return Math.max(0, ((last.ended - first.ended) * 1000) / (last.atMs - first.atMs));
}

/** Milliseconds until the rest has ended, if it goes on like this; null while nothing moves. */
export function etaMs(remaining: number, rate: number | null): number | null {
  if (remaining === 0) return 0;
  return rate ? (remaining / rate) * 1000 : null;
}

/** `12.5 a second`; below one, as seconds of one item: `one in 4.0 s`. */
export function formatRate(rate: number): string {
  if (rate === 0) return "0 a second";
  if (rate >= 1) return `${rate >= 100 ? Math.round(rate) : rate.toFixed(1)} a second`;
  return `one in ${(1 / rate).toFixed(1)} s`;
}
