/**
 * Returns the smallest choice of candidates that has one in each of the needs, and of equally small ones the first in
 * order. Every need must have a candidate. The search is exact, since the candidates are only the connectable
 * providers.
 */
export function fewest(needs: readonly ReadonlySet<string>[], candidates: readonly string[]): string[] {
  const covers = (chosen: readonly string[]) => needs.every((need) => chosen.some((each) => need.has(each)));
  for (let size = 0; size < candidates.length; size++) {
    for (const chosen of choices(candidates, size)) if (covers(chosen)) return chosen;
  }
  return [...candidates];
}

/** Yields every choice of this size, in order. */
function* choices(candidates: readonly string[], size: number, from = 0): Generator<string[]> {
  if (size === 0) {
    yield [];
    return;
  }
  for (let place = from; place <= candidates.length - size; place++) {
    for (const rest of choices(candidates, size - 1, place + 1)) yield [candidates[place]!, ...rest]; // the index is within its length
  }
}
