import type { Comparison, JudgementRequest } from "@/server/contract/comparisons";
import { TERMINAL } from "@/server/contract/jobs";

type Entry = Comparison["entries"][number];
type Standing = Pick<Entry, "entryId" | "status">;

/** What a reader has ticked so far: an entry, a tie or none of them, and which one is worth most for its price. */
export type Choice = {
  overall: { winner: string } | "tie" | "none" | null;
  /** Null: the winner as well. */
  value: string | null;
};
export const NOTHING_CHOSEN: Choice = { overall: null, value: null };

/** `Entry A`: all a reader knows of it before the judgement. */
export const letterOf = (place: number) => String.fromCharCode(65 + place);
export const nameOf = (place: number) => `Entry ${letterOf(place)}`;

/** Judged once everything has ended. */
export const mayBeJudged = (entries: Standing[]) => entries.every(({ status }) => TERMINAL.includes(status));

/** Only what succeeded can win. */
export const couldWin = ({ status }: Pick<Entry, "status">) => status === "succeeded";

/** The judgement that a choice makes; null while it is none. */
export function judgementOf({ overall, value }: Choice, entries: Standing[]): JudgementRequest | null {
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

/** A judgement in words, before it is made. */
export function wordsOf(judgement: JudgementRequest, entries: Pick<Entry, "entryId">[]): string {
  const name = (entryId: string | null | undefined) =>
    nameOf(entries.findIndex((entry) => entry.entryId === entryId));
  if (judgement.decision === "tie") return "A tie: none is better than the others.";
  if (judgement.decision === "none") return "None of them is good enough.";
  const { overallWinnerEntryId: best, valueWinnerEntryId: value } = judgement;
  return `${name(best)} is the best${value === best ? " and the best value." : `, ${name(value)} the best value.`}`;
}
