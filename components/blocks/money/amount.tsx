import type { ReactNode } from "react";
import type { Money } from "@/server/contract/common";
import { decimalsOf, formatMoney } from "./money";

/** An amount in a column: six decimals with quiet trailing zeros, and a note on its own line. */
export function Amount({ of, sign, note }: { of: AnyMoney | number; sign?: boolean; note?: ReactNode }) {
  const money = typeof of === "number" ? { amountMicros: of, currency: "USD" as const } : of;
  return (
    <>
      <span className="whitespace-nowrap">
        {sign && money.amountMicros > 0 && "+"}
        {formatMoney(money)}
        <span className="text-faint">{"0".repeat(6 - decimalsOf(money.amountMicros))}</span>
      </span>
      {note && <span className="block text-2xs text-faint">{note}</span>}
    </>
  );
}

type AnyMoney = Pick<Money, "amountMicros" | "currency">;
