import { callerName } from "@/components/callers/caller-name";
import { EVENT_WORDS } from "@/components/requests/request-thread";
import { Moment } from "@/components/time/moment";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import type { RequestEvent } from "@/server/contract/requests";

/** A request's history with messages, oldest first. */
export function ThreadCard({ events }: { events: RequestEvent[] }) {
  return (
    <Card aria-labelledby="thread-title">
      <CardHeader title="History" id="thread-title" />
      <CardBody>
        <ol className="space-y-3.5 border-l border-line pl-4">
          {events.map((event) => (
            <li key={event.eventId} className="relative text-sm" data-event={event.type}>
              <span
                aria-hidden
                className="absolute top-1.5 -left-[1.3rem] size-2 rounded-full border border-surface bg-line-strong"
              />
              <p className="font-medium">{EVENT_WORDS[event.type]}</p>
              <p className="text-xs text-muted [overflow-wrap:anywhere]">
                {actorOf(event)}, <Moment at={event.createdAt} />
              </p>
              <Said event={event} />
            </li>
          ))}
        </ol>
      </CardBody>
    </Card>
  );
}

const actorOf = ({ actorId: id, actorKind: kind, actorName: name }: RequestEvent) =>
  callerName({ id, kind, name });

/** An event's detail: the operator's message, or the key that shipped. */
function Said({ event: { payload } }: { event: RequestEvent }) {
  const text = [payload.message, payload.capabilityKey].find((value) => typeof value === "string");
  if (typeof text !== "string") return null;
  return (
    <p
      dir="auto"
      className="mt-1 rounded bg-sunken px-2 py-1 text-sm whitespace-pre-wrap [overflow-wrap:anywhere]"
    >
      {text}
    </p>
  );
}
