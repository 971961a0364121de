"use client";
import { useLive } from "@/components/blocks/data/use-live";
import { formatMoney } from "@/components/blocks/money/money";
import { approvalHref } from "@/components/commissions/hrefs";
import { daysOf } from "@/components/commissions/offer";
import { type CommissionStage, commissionPollMs, commissionStage } from "@/components/commissions/stage";
import { useTRPC } from "@/components/data/trpc";
import { Countdown } from "@/components/time/countdown-text";
import { useServerNow } from "@/components/time/server-now";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable-id";
import { Fact, Facts } from "@/components/ui/facts";
import Link from "@/components/ui/link";

const WORDS: Record<CommissionStage["kind"], string> = {
  payable: "Awaiting payment",
  confirming: "Confirming payment",
  processing: "Payment processing",
  expired: "Expired",
  superseded: "Replaced",
  paid: "Paid",
  fulfilled: "Paid",
  refunding: "Refund in progress",
  refunded: "Refunded",
};

const wordsOf = (stage: CommissionStage) =>
  stage.kind === "refunding" && stage.hasFailed ? "Refund failed" : WORDS[stage.kind];

/** A request's quote, with a link to the page where a person approves it. */
export function QuoteCard({ quoteId }: { quoteId: string }) {
  const trpc = useTRPC();
  const { data: commission } = useLive(trpc.requests.commission.queryOptions({ quoteId }), (read) =>
    commissionPollMs(read, commissionStage(read, {}, Date.parse(read.now))),
  );
  const { quote } = commission;
  const nowMs = useServerNow(commission.now, quote.expiresAt);
  const stage = commissionStage(commission, {}, nowMs);
  const isPayable = stage.kind === "payable";
  return (
    <Section title="Commission quote" hint={wordsOf(stage)} bodyClassName="space-y-4">
      <p className="text-xl font-semibold tabular-nums">
        {formatMoney(quote.commissionPrice)}{" "}
        <span className="text-sm font-normal text-muted">before tax</span>
      </p>
      <Facts>
        <Fact name="Delivery">{daysOf(quote.delivery.targetBusinessDays, "business day")}</Fact>
        <Fact name="Price per run">{quote.runtimePricing.display}</Fact>
        {isPayable && (
          <Fact name="Expires">
            <Countdown until={quote.expiresAt} nowMs={nowMs} over="now" />
          </Fact>
        )}
        <Fact name="Quote">
          <CopyableId id={quote.quoteId} what="quote id" short />
        </Fact>
      </Facts>
      <Button asChild className="w-full">
        <Link href={approvalHref(quote.quoteId)}>
          {isPayable && commission.mayPay ? "Review and pay" : "Open quote"}
        </Link>
      </Button>
    </Section>
  );
}
