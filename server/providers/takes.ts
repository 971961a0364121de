import { type Progress, ProviderFault, type Usage } from "./define";

type Done<R> = Extract<Progress<R>, { state: "done" }>;

/**
 * One call that is several requests, because the vendor makes one thing at a time: in order, stopping at the first failure.
 * What was made until then is the result; its usage is unknown where the failed request may have cost something.
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

/** The sum of several usages, figure by figure; a figure one of them lacks is absent. */
export function addUsages(usages: Usage[]): Usage {
  const names = Object.keys(usages[0] ?? {}) as (keyof Usage)[]; // the keys of a usage are a usage's
  const all = names.filter((name) => usages.every((usage) => usage[name] !== undefined));
  return Object.fromEntries(
    all.map((name) => [name, usages.reduce((sum, usage) => sum + (usage[name] ?? 0), 0)]),
  );
}
