import { fail, ValidationFault } from "@/server/platform/errors/errors";

/** How long a body may take: until its next piece, and altogether. */
export type BodyTimeout = { idleMs: number; wholeMs: number };

/**
 * The same bytes, with an end to waiting for them: RequestTimeout (408) when no piece comes in time. Only the time that
 * the caller lets pass counts as idle. A body that breaks off because its caller went away is a refusal like any other.
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
          coming.catch(() => {}); // no one waits for it any more
          return fail("RequestTimeout", "The request body did not arrive in time. Send it again.");
        },
        async return() {
          // A source that is still waited for would answer only after its next piece.
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
