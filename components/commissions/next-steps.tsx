import type { Commission } from "@/server/contract/commissions";
import { daysOf } from "./offer";

/** The steps after payment, in order. */
export function NextSteps({ commission: { quote, request } }: { commission: Commission }) {
  const steps = [
    "You pay on the checkout page. Nothing is charged before you confirm there.",
    "Once the payment is confirmed, you and the other members are notified and the work begins.",
    `The capability is built to this description and its acceptance cases, in about ${daysOf(quote.delivery.targetBusinessDays, "business day")}.`,
    `Its key appears on the request and in the catalog. ${request.createdBy.startsWith("key_") ? "The agent that requested it" : "The person who requested it"} can then run it.`,
    `For ${daysOf(quote.guarantee.acceptanceWindowDays, "day")} after delivery you can get a full refund if it does not do what you requested.`,
  ];
  return (
    <section aria-labelledby="next-title">
      <h2 id="next-title" className="mb-2 text-sm font-semibold">
        What happens next
      </h2>
      <ol className="list-decimal space-y-1.5 pl-5 text-sm text-muted marker:font-medium marker:text-text">
        {steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
    </section>
  );
}
