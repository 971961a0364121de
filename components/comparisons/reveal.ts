import { formatDuration, msBetween } from "@/components/time/format";
import type { Comparison, ComparisonEntry } from "@/server/contract/comparisons";
import { couldWin } from "./judgement";

type Revealed = Pick<Comparison, "judgement"> & {
  entries: Pick<
    ComparisonEntry,
    "entryId" | "status" | "provider" | "model" | "costMicros" | "startedAt" | "completedAt"
  >[];
};

/** Costs that differ by less than this percentage count as equal. */
const SAME_COST_PERCENT = 5;
const SAME_DURATION_MS = 100;

/**
 * A sentence on the winning model, and how it compares with the cheapest other entry that could have won. Null without a
 * winner.
 */
export function revealOf({ judgement, entries }: Revealed): string | null {
  const winner = entries.find(({ entryId }) => entryId === judgement?.overallWinnerEntryId);
  if (!winner) return null;
  const is = `The winner is ${nameOf(winner)}.`;
  const [rival] = entries
    .filter((entry) => entry !== winner && couldWin(entry))
    .sort((one, other) => (one.costMicros ?? Infinity) - (other.costMicros ?? Infinity));
  if (!rival) return is;
  const compared = [costBeside(winner, rival), durationBeside(winner, rival)].filter((each) => each !== null);
  return compared.length === 0 ? is : `${is} Compared with ${nameOf(rival)}, it ${compared.join(" and ")}.`;
}

type One = Revealed["entries"][number];

const nameOf = ({ provider, model }: One) => model || provider || "a local run";

function costBeside({ costMicros: one }: One, { costMicros: other }: One): string | null {
  if (!one || !other) return null;
  const percent = Math.round((one / other - 1) * 100);
  if (Math.abs(percent) < SAME_COST_PERCENT) return "cost about the same";
  return percent > 100
    ? `cost ${(one / other).toFixed(1)}× as much`
    : `cost ${Math.abs(percent)}% ${percent > 0 ? "more" : "less"}`;
}

const ran = ({ startedAt, completedAt }: One) => msBetween(startedAt ?? null, completedAt ?? null);

function durationBeside(one: One, other: One): string | null {
  const [took, otherTook] = [ran(one), ran(other)];
  if (took === null || otherTook === null) return null;
  const ms = took - otherTook;
  if (Math.abs(ms) < SAME_DURATION_MS) return "took about as long";
  return `was ${formatDuration(Math.abs(ms))} ${ms < 0 ? "faster" : "slower"}`;
}
