import { formatMoney } from "@/components/billing/format-money";
import { TEST_MONEY } from "@/components/billing/test-money";
import { daysOf } from "@/components/commissions/offer";
import { Moment } from "@/components/time/moment";
import { Badge, type Tone } from "@/components/ui/badge";
import { Card, CardHeader } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable-id";
import { Fact, Facts } from "@/components/ui/facts";
import { Notice } from "@/components/ui/notice";
import type { RefundReason } from "@/server/contract/commissions";
import type { DossierPayment, DossierQuote, RevisionHead } from "@/server/contract/dossiers";

const STATES: Record<DossierQuote["status"], { label: string; tone: Tone }> = {
  active: { label: "Can be paid", tone: "busy" },
  expired: { label: "Expired", tone: "neutral" },
  superseded: { label: "Replaced", tone: "neutral" },
  paid: { label: "Paid", tone: "good" },
};

/** The quotes of a request, newest first, each with what was paid for it and what goes back. */
export function QuoteList({ quotes, revisions }: { quotes: DossierQuote[]; revisions: RevisionHead[] }) {
  if (quotes.length === 0) return null;
  return (
    <Card aria-labelledby="quotes-title">
      <CardHeader title={quotes.length === 1 ? "Quote" : "Quotes"} id="quotes-title" />
      <ul className="divide-y divide-line">
        {quotes.map((quote) => (
          <li key={quote.quoteId} className="space-y-3 p-4">
            <Terms
              quote={quote}
              revision={revisions.find(({ id }) => id === quote.requestRevisionId)?.number}
            />
            {quote.payments.map((payment) => (
              <Payment key={payment.paymentId} payment={payment} />
            ))}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Terms({ quote, revision }: { quote: DossierQuote; revision: number | undefined }) {
  const { label, tone } = STATES[quote.status];
  return (
    <>
      <p className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
        <span className="text-lg font-semibold tabular-nums">{formatMoney(quote.commissionPrice)}</span>
        <Badge tone={tone}>{label}</Badge>
      </p>
      <Facts>
        <Fact name="Running it">{quote.runtimePricing.display}</Fact>
        <Fact name="Delivery">{daysOf(quote.delivery.targetBusinessDays, "business day")}</Fact>
        <Fact name="Wording">{revision && `Revision ${revision}`}</Fact>
        <Fact name="Issued">
          <Moment at={quote.issuedAt} /> by {quote.issuer}
        </Fact>
        <Fact name={quote.status === "expired" ? "Expired" : "Expires"}>
          {(quote.status === "active" || quote.status === "expired") && <Moment at={quote.expiresAt} />}
        </Fact>
        <Fact name="Note">
          {quote.note && (
            <span dir="auto" className="whitespace-pre-wrap">
              {quote.note}
            </span>
          )}
        </Fact>
        <Fact name="Quote">
          <CopyableId id={quote.quoteId} what="quote id" short />
        </Fact>
      </Facts>
    </>
  );
}

const PAYMENT_STATES: Record<DossierPayment["state"], string> = {
  open: "Checkout open",
  processing: "Money on its way",
  paid: "Paid",
  failed: "Payment failed",
  expired: "Checkout closed unpaid",
};

function Payment({ payment }: { payment: DossierPayment }) {
  return (
    <div className="space-y-2 rounded-md border border-line p-3 text-sm" data-payment={payment.paymentId}>
      <p className="font-medium">
        {PAYMENT_STATES[payment.state]}
        {payment.test && <span className="font-normal text-muted"> ({TEST_MONEY})</span>}
      </p>
      <Facts>
        <Fact name="Amount">{formatMoney(payment.amount)}</Fact>
        <Fact name="Tax">{payment.tax.amountMicros > 0 && formatMoney(payment.tax)}</Fact>
        <Fact name="By">{payment.startedBy}</Fact>
        <Fact name="Paid">{payment.paidAt && <Moment at={payment.paidAt} />}</Fact>
        <Fact name="Given back">{payment.refunded.amountMicros > 0 && formatMoney(payment.refunded)}</Fact>
      </Facts>
      <RefundState payment={payment} />
    </div>
  );
}

const WHY: Record<RefundReason, string> = {
  operator: "An operator asked for it.",
  expired: "It was paid after the quote had expired.",
  superseded: "It was paid after the quote had been replaced.",
  already_paid: "The quote had been paid already.",
};

function RefundState({ payment }: { payment: DossierPayment }) {
  const { refund, refundNote, refundError } = payment;
  if (!refund) return null;
  const why = (
    <>
      {WHY[refund.reason]}
      {refundNote && (
        <span dir="auto" className="mt-1 block whitespace-pre-wrap text-muted">
          {refundNote}
        </span>
      )}
    </>
  );
  switch (refund.state) {
    case "pending":
      return (
        <Notice tone="busy" title="Refund asked for">
          {why}
          {refundError && <span className="mt-1 block">The last try failed: {refundError} It goes on.</span>}
        </Notice>
      );
    case "done":
      return (
        <Notice tone="good" title="Refund done">
          {why}
        </Notice>
      );
    case "failed":
      return (
        <Notice tone="bad" title="Refund failed">
          {why}
          <span className="mt-1 block">The provider says: {refundError ?? "nothing"}</span>
        </Notice>
      );
  }
}
