import { formatMoney } from "@/components/blocks/money/money";
import { requestTitle, Wording } from "@/components/requests/wording";
import { Countdown } from "@/components/time/countdown-text";
import { Moment } from "@/components/time/moment";
import { Card, CardBody } from "@/components/ui/card";
import { Fact, Facts } from "@/components/ui/facts";
import type { Commission } from "@/server/contract/commissions";
import type { CommissionStage } from "./stage";

/** The terms of a commission quote: content, price, buyer, delivery and guarantee. */
export function Offer({
  commission,
  stage,
  nowMs,
}: {
  commission: Commission;
  stage: CommissionStage;
  nowMs: number;
}) {
  const { quote, organization, project, revision } = commission;
  return (
    <Card aria-labelledby="offer-title">
      <CardBody className="space-y-5 sm:p-5">
        <div className="space-y-3">
          <h2 id="offer-title" dir="auto" className="text-lg font-semibold [overflow-wrap:anywhere]">
            {requestTitle(revision.content)}
          </h2>
          <Wording content={revision.content} />
        </div>
        <Facts className="border-t border-line pt-4">
          <Fact name="Price">
            <span className="text-lg font-semibold">{formatMoney(quote.commissionPrice)}</span>{" "}
            <span className="text-muted">before tax, paid once</span>
          </Fact>
          <Fact name="Tax">{taxOf(stage)}</Fact>
          <Fact name="Price per run">
            {quote.runtimePricing.display}{" "}
            <span className="text-muted">(projected; the final price is set when it ships)</span>
          </Fact>
          <Fact name="Buyer">
            {organization.displayName}, project {project.displayName}
          </Fact>
          <Fact name="Delivery">
            About {daysOf(quote.delivery.targetBusinessDays, "business day")} after payment
          </Fact>
          <Fact name="Guarantee">
            Full refund, including tax, if you are not satisfied and say so within{" "}
            {daysOf(quote.guarantee.acceptanceWindowDays, "day")} after delivery
          </Fact>
          {stage.kind === "payable" ? (
            <Fact name="Expires">
              <Countdown until={quote.expiresAt} nowMs={nowMs} over="Expired" />
            </Fact>
          ) : (
            <Fact name="Issued">
              <Moment at={quote.issuedAt} />
            </Fact>
          )}
          <Fact name="Revision">
            {revision.number}, <code className="text-xs">{quote.requestHash}</code>
          </Fact>
        </Facts>
        {quote.note && (
          <figure className="rounded-md border border-line bg-sunken p-3">
            <figcaption className="mb-1 text-xs font-medium text-muted">From the operator</figcaption>
            <blockquote dir="auto" className="text-sm whitespace-pre-wrap [overflow-wrap:anywhere]">
              {quote.note}
            </blockquote>
          </figure>
        )}
      </CardBody>
    </Card>
  );
}

function taxOf(stage: CommissionStage): string {
  const payment = "payment" in stage ? stage.payment : null;
  return payment
    ? `${formatMoney(payment.tax)}, calculated at checkout`
    : "Calculated at checkout from your address and added to the price.";
}

/** `1 day`, `10 business days`. */
export const daysOf = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? "" : "s"}`;
