import type { ReactNode } from "react";
import { formatMoney } from "@/components/blocks/money/money";
import { Moment } from "@/components/time/moment";
import Link from "@/components/ui/link";
import { Notice } from "@/components/ui/notice";
import type { Commission, CommissionPayment, RefundReason } from "@/server/contract/commissions";
import { approvalHref } from "./hrefs";
import { daysOf } from "./offer";
import { type CheckoutReturn, type CommissionStage, checkoutNews, returnedAutomatically } from "./stage";

type Props = { commission: Commission; returned: CheckoutReturn; stage: CommissionStage };

/** The status of a quote, at the top of its page. Changes are announced to screen readers. */
export function StageNotice(props: Props) {
  const { commission, returned, stage } = props;
  const news = checkoutNews(commission, returned, stage);
  return (
    <div role="status" className="space-y-3">
      <OfStage {...props} />
      {news === "canceled" && (
        <Notice tone="busy" title="You left the checkout">
          Nothing was charged.{" "}
          {stage.kind === "payable" && "You can pay at any time until the quote expires."}
        </Notice>
      )}
      {news === "failed" && (
        <Notice tone="bad" title="Payment failed">
          Nothing was charged. {stage.kind === "payable" && "Try again or use another payment method."}
        </Notice>
      )}
      {news === "closed" && (
        <Notice tone="busy" title="Checkout closed">
          Nothing was charged. {stage.kind === "payable" && "You can start a new checkout."}
        </Notice>
      )}
      {returnedAutomatically(commission).map((payment) => (
        <GoesBack key={payment.paymentId} payment={payment} />
      ))}
    </div>
  );
}

function OfStage({ commission, stage }: Props): ReactNode {
  const { quote, request } = commission;
  switch (stage.kind) {
    case "payable":
      return null;
    case "confirming":
      return (
        <Notice tone="busy" title="Your payment is being confirmed">
          This usually takes a few seconds, and this page updates automatically. You can also close it:
          members are notified. Do not pay again.
        </Notice>
      );
    case "processing":
      return (
        <Notice tone="busy" title="Payment processing">
          {who(stage.payment)} has paid {formatMoney(stage.payment.amount)} with a method that takes several
          days to settle. The work begins when the payment arrives. If it arrives after{" "}
          <Moment at={quote.expiresAt} />, it is refunded in full.
        </Notice>
      );
    case "expired":
      return (
        <Notice tone="warn" title="This quote can no longer be paid">
          It expired on <Moment at={quote.expiresAt} />. Ask an operator for a new quote, or revise the
          request.
        </Notice>
      );
    case "superseded":
      return stage.byQuoteId ? (
        <Notice tone="warn" title="A newer quote is available">
          This one can no longer be paid.{" "}
          <Link href={approvalHref(stage.byQuoteId)} className="text-link underline">
            Open the newer quote
          </Link>
        </Notice>
      ) : (
        <Notice tone="warn" title="The request was revised">
          This quote was for an earlier revision, so it can no longer be paid. The new revision gets its own
          quote after review.
        </Notice>
      );
    case "paid":
      return (
        <Notice
          tone="good"
          title={stage.isFresh ? "Paid: the work has begun" : "Already paid: the work has begun"}
        >
          {paidBy(stage.payment)} The capability is expected about{" "}
          {daysOf(quote.delivery.targetBusinessDays, "business day")} after that. No further action is needed.
        </Notice>
      );
    case "fulfilled":
      return (
        <Notice tone="good" title="The capability is available">
          Available as{" "}
          <Link
            href={`/projects/${request.projectId}/catalog/${stage.capabilityKey}`}
            className="text-link underline"
          >
            {stage.capabilityKey}
          </Link>
          {request.fulfilledAt && (
            <>
              , since <Moment at={request.fulfilledAt} />
            </>
          )}
          . {paidBy(stage.payment)}
        </Notice>
      );
    case "refunding":
      return (
        <Notice tone={stage.hasFailed ? "warn" : "busy"} title="Full refund in progress">
          {paidBy(stage.payment)} An operator started a full refund.{" "}
          {stage.hasFailed
            ? "The payment provider could not complete it yet. An operator is looking into it."
            : "It can take several days to arrive."}
        </Notice>
      );
    case "refunded":
      return (
        <Notice tone="busy" title="Refunded by the operator">
          {paidBy(stage.payment)} The full amount was refunded
          {stage.payment && <>: {formatMoney(stage.payment.refunded)}</>}.
          {request.feedback?.kind === "refunded" && (
            <span dir="auto" className="mt-1.5 block whitespace-pre-wrap">
              {request.feedback.message}
            </span>
          )}
        </Notice>
      );
  }
}

const WHY: Record<Exclude<RefundReason, "operator">, string> = {
  expired: "the payment arrived after the quote had expired",
  superseded: "the quote had been replaced by then",
  already_paid: "the commission was already paid",
};

const BACK: Record<"pending" | "done" | "failed", string> = {
  pending: "The payment is being refunded in full automatically. It can take several days to arrive.",
  done: "The payment was refunded in full automatically.",
  failed: "The payment provider could not complete the full refund yet. An operator is looking into it.",
};

/** A payment that is refunded automatically, because nothing could be bought with it. */
function GoesBack({ payment }: { payment: CommissionPayment }) {
  if (!payment.refund || payment.refund.reason === "operator") return null;
  const amount = formatMoney({
    ...payment.amount,
    amountMicros: payment.amount.amountMicros + payment.tax.amountMicros,
  });
  const { state } = payment.refund;
  return (
    <Notice
      tone={state === "failed" ? "warn" : "busy"}
      title={
        state === "done" ? `A payment of ${amount} was refunded` : `A payment of ${amount} is being refunded`
      }
    >
      {who(payment)} paid, but {WHY[payment.refund.reason]}. {BACK[state]}
    </Notice>
  );
}

const who = ({ startedBy }: CommissionPayment) => startedBy ?? "Someone";

function paidBy(payment: CommissionPayment | null): ReactNode {
  if (!payment) return null;
  return (
    <>
      {who(payment)} paid {formatMoney(payment.amount)}
      {payment.tax.amountMicros > 0 && ` and ${formatMoney(payment.tax)} tax`}
      {payment.paidAt && (
        <>
          {" "}
          on <Moment at={payment.paidAt} />
        </>
      )}
      .
    </>
  );
}
