import type { Money } from "@/server/contract/common";

/** An amount for reading: cents, and more digits only where an amount has them. */
export function formatMoney({ amountMicros, currency }: Pick<Money, "amountMicros" | "currency">): string {
  const digits = amountMicros % 10_000 === 0 ? 2 : 6;
  const text = (Math.abs(amountMicros) / 1_000_000).toLocaleString("en-US", {
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  });
  return `${amountMicros < 0 ? "−" : ""}${currency === "USD" ? "$" : `${currency} `}${text}`;
}
