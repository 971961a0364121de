/** Money inside the product is a whole number of micros (10⁻⁶ of the currency unit); safe up to nine billion dollars. */
export type Micros = number;

/** Converts a bound in US dollars to micros, rounded down, so that nothing more expensive passes. */
export function usdToMicros(usd: number): Micros {
  return Math.floor(Number((usd * 1_000_000).toPrecision(15)));
}

/** Converts micros to a wire number of dollars. */
export function microsToUsd(micros: Micros): number {
  return micros / 1_000_000;
}

/** Writes dollars for a sentence, to the last digit and never as 1e-7. */
export const usdText = (usd: number): string =>
  /e-/.test(String(usd)) ? usd.toFixed(15).replace(/0+$/, "") : String(usd);

/** The wire form of an amount; `amountMicros` is the authority, the others are for display. */
export function toMoney(amountMicros: Micros, currency = "USD") {
  const digits = amountMicros % 10_000 === 0 ? 2 : 6;
  return {
    amountMicros,
    currency,
    amountMinor: Math.round(amountMicros / 10_000),
    display: `${currency === "USD" ? "$" : `${currency} `}${(amountMicros / 1_000_000).toFixed(digits)}`,
  };
}
