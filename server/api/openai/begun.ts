import { Fault, isErrorCode } from "@/server/platform/errors/errors";
import type { Heard } from "./result";

/** How long the head of a streamed answer waits for its first event: clients give up on silence much later. */
export const HEAD_WAITS_MS = 15_000;

/**
 * The events of an execution from its first one on. A failure before any text is thrown, so that it has the status of the same
 * request without `stream`, by which clients decide whether to send it again. After `waitMs` of silence the stream begins
 * anyway, and a failure is an event of it.
 */
export async function begun(
  events: AsyncIterable<Heard>,
  waitMs: number = HEAD_WAITS_MS,
): Promise<AsyncIterable<Heard>> {
  const reader = events[Symbol.asyncIterator]();
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), waitMs);
  });
  try {
    for (;;) {
      const next = reader.next();
      const first = await Promise.race([next, silence]);
      if (first === null) return from(reader, next);
      if (first.done) return from(reader, next);
      if (first.value.type === "failed") throw faultOf(first.value);
      if (first.value.type !== "quiet") return from(reader, next);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** The rest of a reader, beginning with the event that was requested already. */
async function* from(
  reader: AsyncIterator<Heard>,
  first: Promise<IteratorResult<Heard>>,
): AsyncGenerator<Heard> {
  try {
    for (let next = await first; !next.done; next = await reader.next()) yield next.value;
  } finally {
    await reader.return?.();
  }
}

const faultOf = ({ code, message, details }: Extract<Heard, { type: "failed" }>): Fault =>
  new Fault(isErrorCode(code) ? code : "InternalFailure", message, details);
