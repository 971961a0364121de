import { type DiffRow, diffLines } from "@/components/blocks/diff/diff-lines";
import type { RequestRevision } from "@/server/contract/requests";

/** The change of one member of a request between two revisions. */
export type MemberChange = {
  member: string;
  label: string;
  /** True for a person's text, false for JSON. */
  isProse: boolean;
  change: "same" | "changed" | "added" | "removed";
  rows: DiffRow[];
};

type Content = RequestRevision["content"];

const KNOWN = [
  ["summary", "Summary"],
  ["need", "Need"],
  ["proposedCapability", "Proposed capability"],
  ["constraints", "Constraints"],
  ["acceptanceCases", "Acceptance cases"],
  ["implementationPreferences", "Implementation preferences"],
] as const;
const LABELS = new Map<string, string>(KNOWN);
/** Members that identify the request: shown only if they differ. */
const FORMAL = new Set(["schemaVersion", "projectId"]);

/** A revision's members in reading order: ours first, then the caller's own. */
function membersOf(...contents: Content[]): string[] {
  const own = new Set(contents.flatMap((content) => Object.keys(content)));
  const known = KNOWN.map(([member]) => member).filter((member) => own.delete(member));
  return [...known, ...[...own].sort()];
}

const labelOf = (member: string) => LABELS.get(member) ?? member;
export const isFormal = (member: string) => FORMAL.has(member);

/** A member as text: text unchanged, anything else as JSON with sorted members. Null if the member is absent. */
export function revisionText(value: unknown): string | null {
  if (value === undefined) return null;
  return typeof value === "string" ? value : (JSON.stringify(sorted(value), null, 2) ?? null);
}

/** Member order means nothing in JSON or to the hash, so it must not look like a change. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member)]));
}

/** Compares two revisions member by member. */
export function compareRevisions(older: Content, newer: Content): MemberChange[] {
  return membersOf(older, newer).flatMap((member) => {
    const [before, after] = [revisionText(older[member]), revisionText(newer[member])];
    const change =
      before === after ? "same" : before === null ? "added" : after === null ? "removed" : "changed";
    if (change === "same" && isFormal(member)) return [];
    return {
      member,
      label: labelOf(member),
      isProse: [older[member], newer[member]].every(
        (value) => value === undefined || typeof value === "string",
      ),
      change,
      rows: change === "same" ? [] : diffLines(before, after),
    };
  });
}
