import { CapstanError } from "./errors";
import { sleep, type Transport } from "./transport";

/** One frame of an event stream. */
export type StreamFrame = { id: string; event: string; data: unknown };

/** The frames of a body as they come; one that the end cuts off is left out, since its like comes again. */
export async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamFrame> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const blocks = rest.split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const frame = frameOf(block);
        if (frame) yield frame;
      }
    }
  } finally {
    await reader.cancel().catch(() => {}); // of a stream that broke
  }
}

function frameOf(block: string): StreamFrame | null {
  let [id, event] = ["", "message"];
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("id:")) id = line.slice(3).trim();
    else if (line.startsWith("event:")) event = line.slice(6).trim();
    else if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
  }
  return data.length === 0 ? null : { id, event, data: JSON.parse(data.join("\n")) };
}

export type FollowOptions = {
  signal?: AbortSignal | undefined;
  /** Goes on after this frame. */
  lastEventId?: string | undefined;
  /** Before a connection that broke is made again, times the connections without a new frame; 500 when not given. */
  reconnectMs?: number | undefined;
};

const MOST_EMPTY = 8;

/**
 * Follows a stream to its end over however many connections it takes: each goes on after the last frame that came, so
 * none is lost, and what comes again is left out, so none is doubled. After each connection `isOver` says whether that was
 * the end; `isWhole`: the service ended it, it did not break.
 */
export async function* follow(
  transport: Transport,
  url: string,
  { signal, lastEventId = "", reconnectMs = 500 }: FollowOptions,
  isOver: (last: StreamFrame | null, isWhole: boolean) => boolean | Promise<boolean>,
): AsyncGenerator<StreamFrame> {
  let seen = lastEventId;
  let last: StreamFrame | null = null;
  for (let empty = 0; ; empty++) {
    const before: string = seen;
    let broken: unknown = null;
    try {
      const headers = { accept: "text/event-stream", ...(seen ? { "last-event-id": seen } : {}) };
      const response = await transport(new Request(url, { headers, signal: signal ?? null }));
      if (!response.body)
        throw new CapstanError("The stream had no body.", { status: 200, code: "Unreadable" });
      for await (const frame of framesOf(response.body)) {
        if (frame.id !== "" && !isAfter(frame.id, seen)) continue;
        seen = frame.id || seen;
        last = frame;
        yield frame;
      }
    } catch (error) {
      if (signal?.aborted || error instanceof CapstanError || error instanceof SyntaxError) throw error;
      broken = error;
    }
    if (await isOver(last, broken === null)) return;
    if (seen !== before) empty = 0;
    if (empty >= MOST_EMPTY)
      throw new CapstanError(
        "The stream broke off again and again.",
        { status: 0, code: "Unreachable", retryable: true },
        { cause: broken },
      );
    await sleep(reconnectMs * (empty + 1), signal);
  }
}

/** Ids are numbers that grow, longer than a number of JavaScript can tell apart. */
const isAfter = (id: string, seen: string) =>
  seen === "" || id.length > seen.length || (id.length === seen.length && id > seen);
