import { formatMoney } from "@/components/blocks/money/money";
import { daysOf } from "@/components/commissions/offer";
import { Fact, Facts } from "@/components/ui/facts";
import type { ReadQuote } from "./read-quote";

/** A commission quote's terms as the customer sees them. */
export function QuoteTerms({ priceMicros, currency, runtimePricing, targetBusinessDays, note }: ReadQuote) {
  const { startingAtMicros } = runtimePricing;
  return (
    <div className="space-y-4">
      <Facts>
        <Fact name="Price">
          <span className="text-lg font-semibold">
            {formatMoney({ amountMicros: priceMicros, currency })}
          </span>{" "}
          <span className="text-muted">before tax, paid once</span>
        </Fact>
        <Fact name="Price per run">
          {runtimePricing.display} <span className="text-muted">(projected)</span>
        </Fact>
        <Fact name="Starting price">
          {startingAtMicros != null && formatMoney({ amountMicros: startingAtMicros, currency })}
        </Fact>
        <Fact name="Delivery">About {daysOf(targetBusinessDays, "business day")} after payment</Fact>
      </Facts>
      {note && (
        <figure className="rounded-md border border-line bg-sunken p-3">
          <figcaption className="mb-1 text-xs font-medium text-muted">From the operator</figcaption>
          <blockquote dir="auto" className="text-sm whitespace-pre-wrap [overflow-wrap:anywhere]">
            {note}
          </blockquote>
        </figure>
      )}
    </div>
  );
}
