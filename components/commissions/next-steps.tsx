import type { Commission } from "@/server/contract/commissions";
import { daysOf } from "./offer";

/** What happens once it is paid, in its order. */
export function NextSteps({ commission: { quote, request } }: { commission: Commission }) {
  const steps = [
    "You pay on the checkout page. Nothing is charged before you confirm there.",
    "The payment is confirmed, you and the other members get a message, and the work begins at once.",
    `The capability is built against this wording and its acceptance cases, in about ${daysOf(quote.delivery.targetBusinessDays, "business day")}.`,
    `Its key appears on the request and in the catalog. Whoever filed it (${request.createdBy.startsWith("key_") ? "an agent, with its key" : "a person"}) can run it from then on.`,
    `For ${daysOf(quote.guarantee.acceptanceWindowDays, "day")} you can have the whole amount back if it does not do what was asked.`,
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
