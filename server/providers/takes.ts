import { type Progress, ProviderFault, type Usage } from "./define";

type Done<R> = Extract<Progress<R>, { state: "done" }>;

/**
 * Makes one call as several requests in sequence, for vendors that limit what one request makes. It stops at the first
 * failure and returns the results so far; their usage is null if the failed request may have cost something, or if one
 * of them has no usage. Throws if the first request fails.
 */
export async function inTurn<R>(
  count: number,
  take: () => Promise<Done<R>>,
  join: (results: R[]) => R,
  add: (usages: Usage[]) => Usage,
): Promise<Done<R>> {
  const done: Done<R>[] = [];
  let isKnown = true;
  while (done.length < count) {
    try {
      done.push(await take());
    } catch (error) {
      if (!(error instanceof ProviderFault) || done.length === 0) throw error;
      isKnown = error.submission === "not_attempted" || ["refused", "capacity"].includes(error.kind);
      break;
    }
  }
  const last = done.at(-1);
  if (!last) throw new Error("at least one is asked for");
  const usages = done.flatMap(({ usage }) => usage ?? []);
  return {
    ...last,
    result: join(done.map(({ result }) => result)),
    usage: isKnown && usages.length === done.length ? add(usages) : null,
  };
}

/** Sums usages figure by figure; a figure that one of them lacks is absent. */
export function addUsages(usages: Usage[]): Usage {
  const names = Object.keys(usages[0] ?? {}) as (keyof Usage)[]; // a usage has only these keys
  const all = names.filter((name) => usages.every((usage) => usage[name] !== undefined));
  return Object.fromEntries(
    all.map((name) => [name, usages.reduce((sum, usage) => sum + (usage[name] ?? 0), 0)]),
  );
}
