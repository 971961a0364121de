import { formatMoney } from "@/components/blocks/money/money";
import type { CommissionPayment } from "@/server/contract/commissions";

/** A payment's amount that is not refunded yet, formatted. */
export function leftOf({ amount, tax, refunded }: CommissionPayment): string {
  const amountMicros = amount.amountMicros + tax.amountMicros - refunded.amountMicros;
  return formatMoney({ amountMicros, currency: amount.currency });
}
