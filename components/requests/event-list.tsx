import { callerName } from "@/components/callers/caller-name";
import { Moment } from "@/components/time/moment";
import { Section } from "@/components/ui/card";
import type { RequestEvent } from "@/server/contract/requests";

const EVENT_WORDS: Record<RequestEvent["type"], string> = {
  "capability_request.created": "Filed as a draft",
  "capability_request.revised": "Revised",
  "capability_request.submitted": "Submitted",
  "capability_request.in_review": "Opened for review",
  "capability_request.needs_information": "Information requested",
  "capability_request.declined": "Declined",
  "capability_request.quoted": "Quoted",
  "capability_request.quote_expiring": "Reminder sent: the quote is about to expire",
  "capability_request.paid": "Paid",
  "capability_request.fulfilled": "Shipped",
  "capability_request.refunded": "Refunded",
  "capability_request.refund_failed": "Refund failed",
};

/** A request's history with messages, oldest first. */
export function EventList({ events }: { events: RequestEvent[] }) {
  return (
    <Section title="History">
      <ol className="space-y-3.5 border-l border-line pl-4">
        {events.map((event) => (
          <li key={event.eventId} className="relative text-sm" data-event={event.type}>
            <span
              aria-hidden
              className="absolute top-1.5 -left-[1.3rem] size-2 rounded-full border border-surface bg-line-strong"
            />
            <p className="font-medium">{EVENT_WORDS[event.type]}</p>
            <p className="text-xs text-muted [overflow-wrap:anywhere]">
              {actorOf(event)} · <Moment at={event.createdAt} />
            </p>
            <Detail event={event} />
          </li>
        ))}
      </ol>
    </Section>
  );
}

/** Customers see every person's name except operators'. */
const actorOf = ({ actorId: id, actorKind: kind, actorName: name }: RequestEvent): string =>
  kind === "human_session" && !name ? "The operator" : callerName({ id, kind, name });

/** An event's detail: the operator's message, or the key that shipped. */
function Detail({ event: { payload } }: { event: RequestEvent }) {
  const text = [payload.message, payload.capabilityKey].find((value) => typeof value === "string");
  if (typeof text !== "string") return null;
  return (
    <p
      dir="auto"
      className="mt-1 rounded bg-sunken px-2 py-1 text-xs whitespace-pre-wrap [overflow-wrap:anywhere]"
    >
      {text}
    </p>
  );
}
