import { formatMoney } from "@/components/blocks/money/money";
import { Notice } from "@/components/ui/notice";
import type { PaymentView } from "@/server/contract/billing";

type Payment = Pick<PaymentView, "state" | "processing" | "credit" | "test">;

/** The outcome of a top-up, for a reader who returns from its checkout. It follows from the payment, not the URL. */
export function ReturnedNotice({ payment, result }: { payment: Payment; result: "success" | "canceled" }) {
  const credit = formatMoney(payment.credit);
  const wallet = payment.test ? "the test wallet" : "the wallet";
  if (payment.state === "paid")
    return (
      <Notice tone="good" title="Paid">
        {credit} was added to {wallet}.
      </Notice>
    );
  if (payment.state === "failed")
    return (
      <Notice tone="bad" title="Payment failed">
        Nothing was charged. Try again or use another payment method.
      </Notice>
    );
  if (payment.processing || (result === "success" && payment.state === "open"))
    return (
      <Notice tone="busy" title="Payment processing">
        {credit} will be added to {wallet} once the payment is confirmed. Some payment methods take several
        days. Do not pay again.
      </Notice>
    );
  return (
    <Notice tone="warn" title="Not paid">
      The checkout was not completed. Nothing was charged. To add funds, start a new top-up.
    </Notice>
  );
}
