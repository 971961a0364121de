const GROUPED = /^(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d*))?$/;
const MICRO_DIGITS = 6;

export type Amount = { micros: number; problem: null } | { micros: null; problem: string };
type Bounds = { leastMicros: number; mostMicros: number; decimals: number };

/**
 * What somebody wrote as an amount, in micros; counted in digits, never in floats. Commas may group thousands; a point
 * comes before what is less than one.
 */
export function readAmount(text: string, { leastMicros, mostMicros, decimals }: Bounds): Amount {
  const trimmed = text.trim().replace(/^\$\s*/, "");
  if (trimmed === "") return refuse("Enter an amount.");
  const [, whole = "", part = ""] = GROUPED.exec(trimmed) ?? [];
  if (whole === "") return refuse("Write the amount in digits, like 1,250.00.");
  if (part.length > decimals)
    return refuse(decimals === 2 ? "Whole cents only, like 1,250.00." : `At most ${decimals} decimals.`);
  const digits = whole.replaceAll(",", "").replace(/^0+(?=\d)/, "");
  const micros = Number(digits + part.padEnd(MICRO_DIGITS, "0"));
  if (micros < leastMicros) return refuse(`At least ${words(leastMicros)}.`);
  if (micros > mostMicros) return refuse(`At most ${words(mostMicros)}.`);
  return { micros, problem: null };
}

const refuse = (problem: string): Amount => ({ micros: null, problem });
const words = (micros: number) => (micros / 1_000_000).toLocaleString("en-US", { minimumFractionDigits: 2 });

/** The price of a commission: whole cents, as `IssueCommissionQuote` takes it. */
export const readPrice = (text: string) =>
  readAmount(text, { leastMicros: 1_000_000, mostMicros: 1_000_000_000_000, decimals: 2 });

/** What a run may cost at least: less than a cent is common. */
export const readStartingPrice = (text: string) =>
  readAmount(text, { leastMicros: 0, mostMicros: 1_000_000_000, decimals: MICRO_DIGITS });
