import type { ModelAdapter } from "@/server/contract/adapters";

/** What an alias stands for, or would. */
export type Target = { adapter: ModelAdapter; weight: number | null };

/** One line of a comparison; `before` and `after` are null where there is nothing to say. */
export type Line = {
  name: string;
  before: string | null;
  after: string | null;
  isChanged: boolean;
  /** Of a list: what came and what went. */
  added?: string[];
  removed?: string[];
};

/** What changes for a request that uses the alias, when it stands for the one instead of the other. */
export function diffOf(before: Target, after: Target): Line[] {
  const [was, is] = [factsOf(before), factsOf(after)];
  const lines = (Object.keys(was) as (keyof typeof was)[]).map(
    (name): Line => ({ name, before: was[name], after: is[name], isChanged: was[name] !== is[name] }),
  );
  const [had, has] = [before.adapter.triggerWords, after.adapter.triggerWords];
  const added = has.filter((word) => !had.includes(word));
  const removed = had.filter((word) => !has.includes(word));
  const words: Line = {
    name: "Trigger words",
    before: had.join(", ") || null,
    after: has.join(", ") || null,
    isChanged: added.length + removed.length > 0,
    added,
    removed,
  };
  const place = lines.findIndex(({ name }) => name === "Made for") + 1;
  return lines.toSpliced(place, 0, words);
}

/** Does the alias stand for the very same then, so that no version is made? */
export const isSame = (a: Target, b: Target): boolean =>
  a.adapter.adapterId === b.adapter.adapterId && a.weight === b.weight;

function factsOf({ adapter, weight }: Target) {
  const { source } = adapter;
  return {
    Adapter: adapter.displayName,
    "Adapter id": adapter.adapterId,
    Strength: weightWords(weight, adapter),
    "Made for": adapter.baseModelFamily,
    Source: source.provider ? `${source.provider}: ${source.ref}` : source.ref,
    File: source.filePath,
    Revision: source.revision,
    "SHA-256": source.sha256,
    Licence: adapter.licenseName,
  };
}

/** How strong an adapter draws where a request says nothing. */
export function weightWords(
  weight: number | null,
  { recommendedWeight }: Pick<ModelAdapter, "recommendedWeight">,
): string {
  if (weight !== null) return String(weight);
  return recommendedWeight === null ? "1 (nothing else is said)" : `${recommendedWeight} (as recommended)`;
}
