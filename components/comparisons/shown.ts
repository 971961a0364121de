import { isPicture } from "@/components/artifacts/viewer";
import type { Comparison } from "@/server/contract/comparisons";
import type { JobArtifactRef } from "@/server/contract/jobs";

export type Entry = Comparison["entries"][number];

/** The files of an entry that are looked at one after the other: its variants, not the cells cut out of one. */
export function itemsOf({ artifacts }: Pick<Entry, "artifacts">): JobArtifactRef[] {
  const whole = artifacts.filter(({ sliceCellId }) => sliceCellId === null);
  return whole.length > 0 ? whole : artifacts;
}

/** How many of them the entry with the most has. */
export const mostItems = (entries: Entry[]) => Math.max(0, ...entries.map((each) => itemsOf(each).length));

/** The picture of an entry at this place; null: there is none, or it is something else. */
export function pictureOf(entry: Entry, place: number): JobArtifactRef | null {
  const item = itemsOf(entry)[place];
  return item && isPicture(item.mediaType) ? item : null;
}

/** What an entry has written; null: nothing, or no text. */
export function textOf({ typedOutput }: Pick<Entry, "typedOutput">): string | null {
  if (typeof typedOutput !== "object" || typedOutput === null || Array.isArray(typedOutput)) return null;
  return typeof typedOutput.content === "string" ? typedOutput.content : null;
}

/** An output as text to be held against another: words as they are, anything else as JSON. */
export function comparableText(entry: Pick<Entry, "typedOutput">): string | null {
  const { typedOutput } = entry;
  if (typedOutput === null || typedOutput === undefined) return null;
  return textOf(entry) ?? JSON.stringify(typedOutput, null, 2);
}

/** What a file of an entry is called here: as its entry, never as its maker named it. */
export const artifactName = (entryName: string, place: number, most: number) =>
  most > 1 ? `${entryName}, ${place + 1} of ${most}` : entryName;
