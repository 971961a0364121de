/** The number of items of a bulk that had finished at a time. */
export type Sample = { atMs: number; ended: number };

/** The rate is measured over this window. */
const WINDOW_MS = 30_000;

/** Adds a sample and drops those before the window, except the last one, so that the window is always covered. */
export function withSample(samples: readonly Sample[], next: Sample): readonly Sample[] {
  const last = samples.at(-1);
  if (last && next.atMs <= last.atMs) return samples;
  const since = next.atMs - WINDOW_MS;
  const within = samples.findIndex(({ atMs }) => atMs > since);
  const kept = within === -1 ? samples.slice(-1) : samples.slice(Math.max(0, within - 1));
  return [...kept, next];
}

/** Items per second over the window; null before the second reading. */
export function rateOf(samples: readonly Sample[]): number | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (!first || !last || last.atMs === first.atMs) return null;
  return Math.max(0, ((last.ended - first.ended) * 1000) / (last.atMs - first.atMs));
}

/** Milliseconds until the rest has finished at this rate; null while nothing moves or the rate is unknown. */
export function etaMs(remaining: number, rate: number | null): number | null {
  if (remaining === 0) return 0;
  return rate ? (remaining / rate) * 1000 : null;
}

/** `12.5 per second`; below one per second, the time of one item: `1 per 4.0 s`. */
export function formatRate(rate: number): string {
  if (rate === 0) return "0 per second";
  if (rate >= 1) return `${rate >= 100 ? Math.round(rate) : rate.toFixed(1)} per second`;
  return `1 per ${(1 / rate).toFixed(1)} s`;
}
