export type Spread = { median: number; low: number; high: number };

/** Median and quartiles, by linear interpolation between the nearest ranks. Throws on an empty list. */
export function spreadOf(values: number[]): Spread {
  if (values.length === 0) throw new Error("nothing was measured");
  const sorted = [...values].sort((a, b) => a - b);
  return { median: at(sorted, 0.5), low: at(sorted, 0.25), high: at(sorted, 0.75) };
}

/** Returns the value below which this share (0 to 1) of the values lies, interpolated; NaN for an empty list. */
export function percentile(values: number[], share: number): number {
  return at(
    [...values].sort((a, b) => a - b),
    share,
  );
}

function at(sorted: number[], share: number): number {
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}
