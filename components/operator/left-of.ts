import { formatMoney } from "@/components/billing/format-money";
import type { CommissionPayment } from "@/server/contract/commissions";

/** What of a payment has not gone back yet, as it is written. */
export function leftOf({ amount, tax, refunded }: CommissionPayment): string {
  const amountMicros = amount.amountMicros + tax.amountMicros - refunded.amountMicros;
  return formatMoney({ amountMicros, currency: amount.currency });
}
