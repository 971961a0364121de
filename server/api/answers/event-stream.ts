import { EventCursor } from "@/server/contract/job-events";
import { ValidationFault } from "@/server/platform/errors/errors";
import { DAY_MS } from "@/server/platform/time/units";
import { textHeader } from "../header-lines";
import { bytes, type Incoming, type RawResponse } from "../transport";

export const EVENT_STREAM = "text/event-stream";

/** One event on the wire. `data` is sent as JSON. */
export type StreamEvent = { id: string; event: string; data: unknown };

/** True if Accept names an event stream by its own type, and gives `application/json` no higher quality. */
export function wantsEventStream(incoming: Incoming): boolean {
  const accept = incoming.header("accept")?.toLowerCase();
  if (!accept?.includes(EVENT_STREAM)) return false;
  const qualities = new Map(
    accept.split(",").map((range) => {
      const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
      const quality = Number(parameters.find((each) => each.startsWith("q="))?.slice(2) ?? 1);
      return [type, Number.isFinite(quality) ? quality : 0];
    }),
  );
  const wish = qualities.get(EVENT_STREAM) ?? 0;
  return wish > 0 && wish >= (qualities.get("application/json") ?? 0);
}

/**
 * The position to resume after, from the caller's `Last-Event-ID`; undefined if there is none. Throws a validation
 * error if the id is not a number.
 */
export function lastEventIdOf(incoming: Incoming): string | undefined {
  const id = textHeader(incoming, "Last-Event-ID");
  if (!id) return undefined;
  if (!EventCursor.safeParse(id).success) {
    throw new ValidationFault([
      {
        loc: ["header", "Last-Event-ID"],
        msg: "This is not an event id of this stream.",
        type: "value_error",
      },
    ]);
  }
  return id;
}

/** `lastId` is the id of the stream's last event, for streams that may end without having sent it as an item. */
type Pages<Item> = AsyncIterable<{ items: Item[]; hasEnded: boolean; lastId?: string }>;

/**
 * The 204 that stops an EventSource from reconnecting, if `hasLast` confirms that its `Last-Event-ID` is the last event; null
 * otherwise. A plain `fetch()` reads an empty stream instead, because the client of 0.2.0 rejects a response without a body.
 * Only an EventSource always sends `cache-control: no-cache`.
 */
export async function nothingMore(
  incoming: Incoming,
  hasLast: (lastEventId: string) => Promise<boolean>,
): Promise<RawResponse | null> {
  const lastEventId = lastEventIdOf(incoming);
  const isPlainFetch =
    incoming.header("sec-fetch-mode") !== undefined &&
    !incoming.header("cache-control")?.includes("no-cache");
  if (lastEventId === undefined || isPlainFetch || !(await hasLast(lastEventId))) return null;
  return bytes({ status: 204, headers: { "cache-control": "no-store" } });
}

/**
 * A streamed response: a comment first, then each page's items as frames, or a comment for an empty page before the
 * last, and at the end a `retry` for browsers.
 */
export function eventStream<Item>(
  pages: Pages<Item>,
  toEvent: (item: Item) => StreamEvent,
  headers: Record<string, string> = {},
): RawResponse {
  return streamed(frames(pages, toEvent), headers);
}

/** A response that is sent as it is produced, as an event stream. */
export function streamed(body: AsyncIterable<Uint8Array>, headers: Record<string, string> = {}): RawResponse {
  return bytes({
    headers: {
      "content-type": EVENT_STREAM,
      // Not cached and not compressed: a proxy that buffers bytes to compress them would delay the events.
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      ...headers,
    },
    body,
  });
}

async function* frames<Item>(
  pages: Pages<Item>,
  toEvent: (item: Item) => StreamEvent,
): AsyncGenerator<Uint8Array> {
  let sent: string | undefined;
  yield COMMENT; // sends the headers
  for await (const { items, hasEnded, lastId } of pages) {
    const events = items.map(toEvent);
    sent = events.at(-1)?.id ?? sent;
    if (events.length > 0) yield Buffer.from(events.map(toFrame).join(""));
    else if (!hasEnded) yield COMMENT;
    if (hasEnded) yield endFrame(lastId ?? sent);
  }
}

const RECONNECT_MS = 1_000;

/**
 * Sets when an EventSource reconnects to the ended stream, and with which id; the reconnection receives the 204.
 * Without an id, the EventSource stays away for a day. Clients do not treat a frame without data as an event.
 */
const endFrame = (id: string | undefined) =>
  Buffer.from(id === undefined ? `retry: ${DAY_MS}\n\n` : `retry: ${RECONNECT_MS}\nid: ${id}\n\n`);

/**
 * A comment, sent so that headers go out and an idle connection is not taken for a dead one. No empty line follows it: strict
 * readers, such as older versions of openai-go, take an empty line for the end of an event and fail on one without data.
 */
export const COMMENT = Buffer.from(":\n");

const toFrame = ({ id, event, data }: StreamEvent) =>
  `id: ${id}\nevent: ${event}\ndata: ${toEventLine(data)}\n\n`;

/** JSON on one line, even for readers that break lines at Unicode line separators. */
export const toEventLine = (data: unknown) =>
  JSON.stringify(data).replace(
    /[\u0085\u2028\u2029]/g,
    (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
