import { type AmountBounds, readAmount } from "@/components/ui/amount";
import type { IssueCommissionQuote } from "@/server/contract/requests";

/** A quote as form state. */
export type QuoteDraft = {
  price: string;
  currency: IssueCommissionQuote["currency"];
  mode: IssueCommissionQuote["runtimePricing"]["mode"];
  display: string;
  startingAt: string;
  days: string;
  note: string;
};
export const EMPTY_QUOTE: QuoteDraft = {
  price: "",
  currency: "USD",
  mode: "metered",
  display: "",
  startingAt: "",
  days: "10",
  note: "",
};

/** A quote ready to issue. */
export type ReadQuote = Omit<IssueCommissionQuote, "requestId" | "revisionId">;
export type QuoteProblems = Partial<Record<keyof QuoteDraft, string>>;

const MOST_DAYS = 250;
/** A commission's price bounds: whole cents, as `IssueCommissionQuote` accepts. */
export const PRICE: AmountBounds = { leastMicros: 1_000_000, mostMicros: 1_000_000_000_000, decimals: 2 };
/** The bounds of a run's starting price, which is often below a cent. */
export const STARTING_PRICE: AmountBounds = { leastMicros: 0, mostMicros: 1_000_000_000, decimals: 6 };

/** Parses the form: either a quote, or the problems by field. */
export function readQuote(draft: QuoteDraft): { quote: ReadQuote | null; problems: QuoteProblems } {
  const price = readAmount(draft.price, PRICE);
  const hasStart = draft.mode !== "free" && draft.startingAt.trim() !== "";
  const start = hasStart ? readAmount(draft.startingAt, STARTING_PRICE) : { micros: null, problem: null };
  const days = /^\d{1,3}$/.test(draft.days.trim()) ? Number(draft.days) : 0;
  const display = draft.display.trim();
  const problems: QuoteProblems = {
    ...(price.problem && { price: price.problem }),
    ...(start.problem && { startingAt: start.problem }),
    ...((days < 1 || days > MOST_DAYS) && { days: `Enter a whole number of days from 1 to ${MOST_DAYS}.` }),
    ...(display === "" && { display: "Describe what a run will cost." }),
  };
  if (price.micros === null || Object.keys(problems).length > 0) return { quote: null, problems };
  const runtimePricing = {
    mode: draft.mode,
    billingCurrency: draft.currency,
    display,
    startingAtMicros: start.micros,
  };
  return {
    quote: {
      priceMicros: price.micros,
      currency: draft.currency,
      runtimePricing,
      targetBusinessDays: days,
      note: draft.note.trim() || null,
    },
    problems: {},
  };
}
