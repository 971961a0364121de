/**
 * The fewest of `candidates` that together are in every one of `needs`: of those the first in their order. Each need has
 * one of them at least. Exact: there are as many candidates as providers that can be connected.
 */
export function fewest(needs: readonly ReadonlySet<string>[], candidates: readonly string[]): string[] {
  const covers = (chosen: readonly string[]) => needs.every((need) => chosen.some((each) => need.has(each)));
  for (let size = 0; size < candidates.length; size++) {
    for (const chosen of choices(candidates, size)) if (covers(chosen)) return chosen;
  }
  return [...candidates];
}

/** Every choice of so many, in their order. */
function* choices(candidates: readonly string[], size: number, from = 0): Generator<string[]> {
  if (size === 0) {
    yield [];
    return;
  }
  for (let place = from; place <= candidates.length - size; place++) {
    for (const rest of choices(candidates, size - 1, place + 1)) yield [candidates[place]!, ...rest]; // within its length
  }
}
