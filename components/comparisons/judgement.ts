import type { Comparison, JudgementRequest } from "@/server/contract/comparisons";
import { TERMINAL } from "@/server/contract/enums";

type Entry = Comparison["entries"][number];
type Standing = Pick<Entry, "entryId" | "status">;

/**
 * The reader's choice so far: `overall` is the winning entry, a tie or none, and `value` is the entry that is the best
 * value.
 */
export type JudgementChoice = {
  overall: { winner: string } | "tie" | "none" | null;
  /** Null if there is no winner, or if the winner is also the best value. */
  value: string | null;
};
export const NOTHING_CHOSEN: JudgementChoice = { overall: null, value: null };

/** The letter of an entry, its only name before the judgement. */
export const letterOf = (place: number) => String.fromCharCode(65 + place);
export const entryName = (place: number) => `Entry ${letterOf(place)}`;

/** A comparison can be judged once every entry has finished. */
export const mayBeJudged = (entries: Standing[]) => entries.every(({ status }) => TERMINAL.includes(status));

/** Only an entry that succeeded can win. */
export const couldWin = ({ status }: Pick<Entry, "status">) => status === "succeeded";

/** The judgement for a choice; null while the choice is incomplete. */
export function toJudgement(
  { overall, value }: JudgementChoice,
  entries: Standing[],
): JudgementRequest | null {
  if (overall === null || !mayBeJudged(entries)) return null;
  if (overall === "tie") return entries.filter(couldWin).length > 1 ? { decision: "tie" } : null;
  if (overall === "none") return { decision: "none" };
  const winners = entries.filter(couldWin).map(({ entryId }) => entryId);
  if (!winners.includes(overall.winner)) return null;
  return {
    decision: "winner",
    overallWinnerEntryId: overall.winner,
    valueWinnerEntryId: value !== null && winners.includes(value) ? value : overall.winner,
  };
}

/** A judgement in one sentence. */
export function judgementText(judgement: JudgementRequest, entries: Pick<Entry, "entryId">[]): string {
  const name = (entryId: string | null | undefined) =>
    entryName(entries.findIndex((entry) => entry.entryId === entryId));
  if (judgement.decision === "tie") return "A tie: no entry is better than the others.";
  if (judgement.decision === "none") return "No entry is good enough.";
  const { overallWinnerEntryId: best, valueWinnerEntryId: value } = judgement;
  return `${name(best)} is the best${value === best ? " and the best value." : `, ${name(value)} is the best value.`}`;
}
