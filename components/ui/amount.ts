const WRITTEN = /^(?=.*\d)(\d*)(?:\.(\d*))?$/;
const MICRO_DIGITS = 6;

export type Amount = { micros: number; problem: null } | { micros: null; problem: string };
/** An amount's bounds. `decimals` is 2 if only whole cents are accepted. */
export type AmountBounds = { leastMicros: number; mostMicros: number; decimals: 2 | 6 };

/**
 * Parses an amount as typed, in micros, from digits and never through floats. A comma is refused because it separates
 * thousands in some countries and decimals in others.
 */
export function readAmount(text: string, { leastMicros, mostMicros, decimals }: AmountBounds): Amount {
  const trimmed = text.trim();
  if (trimmed === "") return refuse("Enter an amount.");
  const [, whole, part = ""] = WRITTEN.exec(trimmed) ?? [];
  if (whole === undefined) return refuse("Use digits and one point, like 1250.50.");
  if (part.length > decimals)
    return refuse(decimals === 2 ? "Whole cents only, like 1250.50." : `At most ${decimals} decimals.`);
  const micros = Number(whole + part.padEnd(MICRO_DIGITS, "0"));
  if (micros < leastMicros) return refuse(`At least ${amountText(leastMicros)}.`);
  if (micros > mostMicros) return refuse(`At most ${amountText(mostMicros)}.`);
  return { micros, problem: null };
}

const refuse = (problem: string): Amount => ({ micros: null, problem });

/** An amount as text that parses back to the same amount. */
export const amountText = (micros: number) => String(micros / 1_000_000);

/** The amount of a submitted form; null if the field is empty. */
export function sentAmount(fields: FormData, name: string): number | null {
  const text = String(fields.get(name) ?? "");
  if (text === "") return null;
  const { micros, problem } = readAmount(text, ANY_AMOUNT);
  if (problem !== null) throw new Error(problem); // the field itself refuses this before the form is submitted
  return micros;
}

/** The amount of a required field; throws if it is empty. */
export function requiredAmount(fields: FormData, name: string): number {
  const micros = sentAmount(fields, name);
  if (micros === null) throw new Error(`The form was sent without an amount in "${name}".`);
  return micros;
}

/** The bounds from zero to a billion, the service's limit. */
export const ANY_AMOUNT: AmountBounds = { leastMicros: 0, mostMicros: 1e15, decimals: 6 };
/** The bounds of `ANY_AMOUNT` without zero. */
export const SOME_AMOUNT: AmountBounds = { ...ANY_AMOUNT, leastMicros: 1 };
