import { isPicture } from "@/components/artifacts/viewer";
import { dollars } from "@/components/blocks/money/money";
import { formatDuration, msBetween } from "@/components/time/format";
import type { ComparisonEntry } from "@/server/contract/comparisons";
import type { JobArtifactRef } from "@/server/contract/jobs";

/**
 * The files of an entry to page through: its variants without the cells sliced from one, or the cells if there is nothing
 * else.
 */
export function entryFiles({ artifacts }: Pick<ComparisonEntry, "artifacts">): JobArtifactRef[] {
  const whole = artifacts.filter(({ sliceCellId }) => sliceCellId === null);
  return whole.length > 0 ? whole : artifacts;
}

/** The largest number of files of any entry. */
export const mostItems = (entries: ComparisonEntry[]) =>
  Math.max(0, ...entries.map((each) => entryFiles(each).length));

/** The image of an entry at this position; null if there is none. */
export function pictureOf(entry: ComparisonEntry, place: number): JobArtifactRef | null {
  const item = entryFiles(entry)[place];
  return item && isPicture(item.mediaType) ? item : null;
}

/** The text output of an entry; null if it has none. */
export function entryText({ typedOutput }: Pick<ComparisonEntry, "typedOutput">): string | null {
  if (typeof typedOutput !== "object" || typedOutput === null || Array.isArray(typedOutput)) return null;
  return typeof typedOutput.content === "string" ? typedOutput.content : null;
}

/** An output as text for a diff: text as it is, anything else as JSON. */
export function comparableText(entry: Pick<ComparisonEntry, "typedOutput">): string | null {
  const { typedOutput } = entry;
  if (typedOutput === null || typedOutput === undefined) return null;
  return entryText(entry) ?? JSON.stringify(typedOutput, null, 2);
}

/** The name of a file, from its entry: the provider's file name could reveal the model. */
export const artifactName = (entryName: string, place: number, most: number) =>
  most > 1 ? `${entryName}, ${place + 1} of ${most}` : entryName;

/** The provider's charge for a revealed entry. An unknown cost is not zero. */
export const providerCost = ({ costMicros }: ComparisonEntry) =>
  costMicros === null || costMicros === undefined ? "Unknown cost" : dollars(costMicros);

/** The run time of a revealed entry; null if it did not run. */
export function ranFor({ startedAt, completedAt }: ComparisonEntry): string | null {
  const ms = msBetween(startedAt ?? null, completedAt ?? null);
  return ms === null ? null : formatDuration(ms);
}
