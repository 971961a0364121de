import type { ModelAdapter } from "@/server/contract/adapters";
import { ownKeys } from "@/server/contract/own-keys";

/** The adapter and weight that an alias points to, or could point to. */
export type WeightedAdapter = { adapter: ModelAdapter; weight: number | null };

/** One line of a diff; `before` and `after` are null when there is no value. */
export type AliasDiffLine = {
  name: string;
  before: string | null;
  after: string | null;
  isChanged: boolean;
  /** For a list: the added and removed items. */
  added?: string[];
  removed?: string[];
};

/** Compares the facts that a request gets from two targets of its alias; unchanged facts are included. */
export function diffOf(before: WeightedAdapter, after: WeightedAdapter): AliasDiffLine[] {
  const [was, is] = [factsOf(before), factsOf(after)];
  const lines = ownKeys(was).map(
    (name): AliasDiffLine => ({
      name,
      before: was[name],
      after: is[name],
      isChanged: was[name] !== is[name],
    }),
  );
  const [had, has] = [before.adapter.triggerWords, after.adapter.triggerWords];
  const added = has.filter((word) => !had.includes(word));
  const removed = had.filter((word) => !has.includes(word));
  const words: AliasDiffLine = {
    name: "Trigger words",
    before: had.join(", ") || null,
    after: has.join(", ") || null,
    isChanged: added.length + removed.length > 0,
    added,
    removed,
  };
  const place = lines.findIndex(({ name }) => name === "Base model") + 1;
  return lines.toSpliced(place, 0, words);
}

/** True if the targets are the same, so that promoting would create no version. */
export const isSameTarget = (a: WeightedAdapter, b: WeightedAdapter): boolean =>
  a.adapter.adapterId === b.adapter.adapterId && a.weight === b.weight;

function factsOf({ adapter, weight }: WeightedAdapter) {
  const { source } = adapter;
  return {
    Adapter: adapter.displayName,
    "Adapter id": adapter.adapterId,
    Strength: weightWords(weight, adapter),
    "Base model": adapter.baseModelFamily,
    Source: source.provider ? `${source.provider}: ${source.ref}` : source.ref,
    File: source.filePath,
    Revision: source.revision,
    "SHA-256": source.sha256,
    License: adapter.licenseName,
  };
}

/** The strength of an adapter when the request sets none. */
export function weightWords(
  weight: number | null,
  { recommendedWeight }: Pick<ModelAdapter, "recommendedWeight">,
): string {
  if (weight !== null) return String(weight);
  return recommendedWeight === null ? "1 (default)" : `${recommendedWeight} (recommended)`;
}
