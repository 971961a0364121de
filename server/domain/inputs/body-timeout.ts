import { fail, ValidationFault } from "@/server/platform/errors/errors";

/** Limits for the arrival of a body: milliseconds until its next piece, and in total. */
export type BodyTimeout = { idleMs: number; wholeMs: number };

/**
 * Limits the wait for a body's bytes: RequestTimeout (408) if no piece arrives in time. Only time spent waiting
 * for the client counts as idle. A body that breaks off because its client went away is a ValidationFault.
 */
export function withBodyTimeout(
  source: AsyncIterable<Uint8Array>,
  { idleMs, wholeMs }: BodyTimeout,
): AsyncIterable<Uint8Array> {
  const endsAt = performance.now() + wholeMs;
  return {
    [Symbol.asyncIterator]() {
      const chunks = source[Symbol.asyncIterator]();
      let isLate = false;
      return {
        async next() {
          const coming = chunks.next();
          let timer: NodeJS.Timeout | undefined;
          const late = new Promise<"late">((resolve) => {
            timer = setTimeout(resolve, Math.max(0, Math.min(idleMs, endsAt - performance.now())), "late");
          });
          try {
            const first = await Promise.race([coming.catch(brokeOff), late]);
            if (first !== "late") return first;
          } finally {
            clearTimeout(timer);
          }
          isLate = true;
          coming.catch(() => {}); // nothing awaits it any longer
          return fail("RequestTimeout", "The request body did not arrive in time. Send it again.");
        },
        async return() {
          // A source with a pending read would close only after its next piece, so a late one is not awaited.
          const closed = chunks.return?.();
          if (isLate) closed?.catch(() => {});
          else await closed;
          return { done: true, value: undefined };
        },
      };
    },
  };
}

function brokeOff(): never {
  throw new ValidationFault([
    { loc: ["body"], msg: "The request body ended early. Send it again.", type: "multipart_invalid" },
  ]);
}
