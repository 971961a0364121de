import { Fault, isErrorCode } from "@/server/platform/errors/errors";
import type { Heard } from "./result";

/**
 * The longest wait for the first event before the head of a streamed response is sent. Clients tolerate a much longer
 * silence.
 */
export const HEAD_WAITS_MS = 15_000;

/**
 * The events of an execution, once the first has arrived. A failure before any text is thrown, so that it has the status of
 * the same request without `stream`, by which clients decide whether to retry. After `waitMs` of silence the stream begins
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

/** Continues a reader with the event that was already requested from it. */
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
