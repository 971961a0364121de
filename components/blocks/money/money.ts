import type { Money } from "@/server/contract/common";

const MICROS = 1_000_000;

/** An exact amount for reading: two decimals, and more only if it has them. */
export function formatMoney({ amountMicros, currency }: Pick<Money, "amountMicros" | "currency">): string {
  const size = Math.abs(amountMicros);
  const whole = Math.floor(size / MICROS).toLocaleString("en-US");
  return `${amountMicros < 0 ? "−" : ""}${currency === "USD" ? "$" : `${currency} `}${whole}.${partOf(size)}`;
}

const partOf = (size: number) =>
  String(size % MICROS)
    .padStart(6, "0")
    .replace(/0{1,4}$/, "");

/** The number of decimals in which an amount is written. */
export const decimalsOf = (amountMicros: number) => partOf(Math.abs(amountMicros)).length;

export const dollars = (amountMicros: number): string => formatMoney({ amountMicros, currency: "USD" });

/** Formats an amount that the API returns in dollars, with at most six decimals. */
export const wholeDollars = (usd: number): string => dollars(Math.round(usd * MICROS));
