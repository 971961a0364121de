import { CapstanError } from "./errors";
import { delay, type Transport } from "./transport";

/** One frame of an event stream. */
export type StreamFrame = { id: string; event: string; data: unknown };

/** The frames of a body as they arrive; an incomplete last one is dropped, because it is sent again. */
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
    await reader.cancel().catch(() => {}); // rejects if the stream was interrupted
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
  /** Resumes after this frame. */
  lastEventId?: string | undefined;
  /** The delay before reconnecting, in ms; grows with each further connection without a new frame. 500 by default. */
  reconnectMs?: number | undefined;
};

const MOST_EMPTY = 8;

/**
 * Follows a stream to its end and reconnects as needed. Each connection resumes after the last received frame and drops
 * repeated ones, so no frame is lost or duplicated. If `lastEventId` is beyond the stream's last frame, the service sends
 * that frame again, so the first frame received is never dropped as repeated. After each connection, `hasEnded` decides
 * whether the stream has ended; `isWhole` means that the service closed the connection normally.
 */
export async function* follow(
  transport: Transport,
  url: string,
  { signal, lastEventId = "", reconnectMs = 500 }: FollowOptions,
  hasEnded: (last: StreamFrame | null, isWhole: boolean) => boolean | Promise<boolean>,
): AsyncGenerator<StreamFrame> {
  let seen = lastEventId;
  let last: StreamFrame | null = null;
  for (let empty = 0; ; empty++) {
    const before: string = seen;
    let broken: unknown = null;
    try {
      const headers = { accept: "text/event-stream", ...(seen ? { "last-event-id": seen } : {}) };
      const response = await transport(new Request(url, { headers, signal: signal ?? null }));
      // A 204 means that the last received frame was the stream's last one.
      for await (const frame of response.body ? framesOf(response.body) : []) {
        if (last !== null && frame.id !== "" && !isAfter(frame.id, seen)) continue;
        seen = frame.id || seen;
        last = frame;
        yield frame;
      }
    } catch (error) {
      if (signal?.aborted || error instanceof CapstanError || error instanceof SyntaxError) throw error;
      broken = error;
    }
    if (await hasEnded(last, broken === null)) return;
    if (seen !== before) empty = 0;
    if (empty >= MOST_EMPTY)
      throw new CapstanError(
        "The stream was interrupted too often.",
        { status: 0, code: "Unreachable", retryable: true },
        { cause: broken },
      );
    await delay(reconnectMs * (empty + 1), signal);
  }
}

/** Ids are increasing integers, too large for exact JavaScript numbers. */
const isAfter = (id: string, seen: string) =>
  seen === "" || id.length > seen.length || (id.length === seen.length && id > seen);
