import { TEST_MONEY } from "@/components/billing/test-money";
import { formatMoney } from "@/components/blocks/money/money";
import { daysOf } from "@/components/commissions/offer";
import { Moment } from "@/components/time/moment";
import { Badge, type Tone } from "@/components/ui/badge";
import { Section } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable-id";
import { Fact, Facts } from "@/components/ui/facts";
import { Notice } from "@/components/ui/notice";
import type { RefundReason } from "@/server/contract/commissions";
import type { DossierPayment, DossierQuote, RevisionHead } from "@/server/contract/dossiers";

const STATES: Record<DossierQuote["status"], { label: string; tone: Tone }> = {
  active: { label: "Awaiting payment", tone: "busy" },
  expired: { label: "Expired", tone: "neutral" },
  superseded: { label: "Replaced", tone: "neutral" },
  paid: { label: "Paid", tone: "good" },
};

/** A request's quotes, newest first, each with its payments and refunds. */
export function QuoteList({ quotes, revisions }: { quotes: DossierQuote[]; revisions: RevisionHead[] }) {
  if (quotes.length === 0) return null;
  return (
    <Section title={quotes.length === 1 ? "Quote" : "Quotes"} isFlush>
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
    </Section>
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
        <Fact name="Price per run">{quote.runtimePricing.display}</Fact>
        <Fact name="Delivery">{daysOf(quote.delivery.targetBusinessDays, "business day")}</Fact>
        <Fact name="Revision">{revision && `Revision ${revision}`}</Fact>
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
  processing: "Payment processing",
  paid: "Paid",
  failed: "Payment failed",
  expired: "Checkout expired",
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
        <Fact name="Started by">{payment.startedBy}</Fact>
        <Fact name="Paid">{payment.paidAt && <Moment at={payment.paidAt} />}</Fact>
        <Fact name="Refunded">{payment.refunded.amountMicros > 0 && formatMoney(payment.refunded)}</Fact>
      </Facts>
      <RefundState payment={payment} />
    </div>
  );
}

const WHY: Record<RefundReason, string> = {
  operator: "Requested by an operator.",
  expired: "The quote was paid after it expired.",
  superseded: "The quote was paid after it was replaced.",
  already_paid: "The quote was already paid.",
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
        <Notice tone="busy" title="Refund requested">
          {why}
          {refundError && (
            <span className="mt-1 block">
              The last attempt failed: {refundError} It is retried automatically.
            </span>
          )}
        </Notice>
      );
    case "done":
      return (
        <Notice tone="good" title="Refunded">
          {why}
        </Notice>
      );
    case "failed":
      return (
        <Notice tone="bad" title="Refund failed">
          {why}
          <span className="mt-1 block">Provider response: {refundError ?? "none"}</span>
        </Notice>
      );
  }
}
