import Link from "next/link";
import type { ReactNode } from "react";
import { formatMoney } from "@/components/billing/format-money";
import { Moment } from "@/components/time/moment";
import { Notice } from "@/components/ui/notice";
import type { Commission, CommissionPayment, RefundReason } from "@/server/contract/commissions";
import { approvalHref } from "./hrefs";
import { daysOf } from "./offer";
import { checkoutNews, type Returned, returnedByItself, type Stage } from "./stage";

type Props = { commission: Commission; returned: Returned; stage: Stage };

/** What became of a quote, first of all on its page. Told to screen readers when it changes. */
export function StageNotice(props: Props) {
  const { commission, returned, stage } = props;
  const news = checkoutNews(commission, returned, stage);
  return (
    <div role="status" className="space-y-3">
      <OfStage {...props} />
      {news === "canceled" && (
        <Notice tone="busy" title="You left the checkout">
          Nothing was charged.{" "}
          {stage.kind === "payable" && "You can pay whenever you like while the quote is open."}
        </Notice>
      )}
      {news === "failed" && (
        <Notice tone="bad" title="The payment failed">
          Nothing was charged. {stage.kind === "payable" && "Try again, or pay in another way."}
        </Notice>
      )}
      {news === "closed" && (
        <Notice tone="busy" title="That checkout is closed">
          Nothing was charged on it. {stage.kind === "payable" && "You can open a new one."}
        </Notice>
      )}
      {returnedByItself(commission).map((payment) => (
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
          You came back from the checkout. This page waits until the payment is confirmed, which mostly takes
          seconds; you may also close it: members get a message. Do not pay again.
        </Notice>
      );
    case "processing":
      return (
        <Notice tone="busy" title="The money is on its way">
          {who(stage.payment)} has paid {formatMoney(stage.payment.amount)} in a way that takes some days to
          arrive. The work begins when it has. It counts by the day it arrives: after{" "}
          <Moment at={quote.expiresAt} /> it would go back whole.
        </Notice>
      );
    case "expired":
      return (
        <Notice tone="warn" title="It can no longer be paid">
          The price was good until <Moment at={quote.expiresAt} />. An operator can issue a new quote for the
          same wording; ask for one, or revise the request.
        </Notice>
      );
    case "superseded":
      return stage.byQuoteId ? (
        <Notice tone="warn" title="There is a newer quote">
          This one can no longer be paid.{" "}
          <Link href={approvalHref(stage.byQuoteId)} className="text-link underline">
            Open the newer quote
          </Link>
        </Notice>
      ) : (
        <Notice tone="warn" title="The request was reworded">
          This price was for an earlier wording, so it can no longer be paid. The new wording gets a quote of
          its own once it was reviewed.
        </Notice>
      );
    case "paid":
      return (
        <Notice
          tone="good"
          title={stage.isFresh ? "Paid: the work has begun" : "Already paid: the work has begun"}
        >
          {paidBy(stage.payment)} The capability is expected about{" "}
          {daysOf(quote.delivery.targetBusinessDays, "business day")} after that. There is nothing left to do
          here.
        </Notice>
      );
    case "fulfilled":
      return (
        <Notice tone="good" title="The capability has shipped">
          It is{" "}
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
        <Notice tone={stage.hasFailed ? "warn" : "busy"} title="The whole amount goes back">
          {paidBy(stage.payment)} An operator gives it back.{" "}
          {stage.hasFailed
            ? "The payment provider could not do so until now; the operator knows and looks into it."
            : "The payment provider was asked; it can take some days to arrive."}
        </Notice>
      );
    case "refunded":
      return (
        <Notice tone="busy" title="Refunded by the operator">
          {paidBy(stage.payment)} The whole amount was given back
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
  expired: "it was paid after the quote had expired",
  superseded: "the quote had been replaced by then",
  already_paid: "the commission was paid already",
};

const BACK: Record<"pending" | "done" | "failed", string> = {
  pending:
    "It is returned whole, by itself: the payment provider was asked, and it can take some days to arrive.",
  done: "It was returned whole, by itself.",
  failed:
    "It goes back whole; the payment provider could not do so until now, and an operator looks into it.",
};

/** Money nothing could be bought for. */
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
      title={state === "done" ? `A payment of ${amount} was returned` : `A payment of ${amount} goes back`}
    >
      {who(payment)} paid it, but {WHY[payment.refund.reason]}. {BACK[state]}
    </Notice>
  );
}

const who = ({ startedBy }: CommissionPayment) => startedBy ?? "Somebody";

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
