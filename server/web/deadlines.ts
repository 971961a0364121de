import type { IncomingMessage } from "node:http";

/** Time limit of a body whose endpoint does not allow more. */
const USUAL_MS = 300_000;
const LOOK_EVERY_MS = 5_000;

/** The time limit of one body. */
export type Deadline = {
  /** Gives the body this long from now on. */
  allow(ms: number): void;
  /** Ends the limit, because the request was answered; the rest of its body is not waited for. */
  end(): void;
};

type Watched = { request: IncomingMessage; dueAt: number };

/**
 * Calls `late` for each request whose body takes too long. Node has one limit for every request of a server;
 * here an endpoint may allow its own more, so that a long upload does not raise the limit for everyone.
 */
export function bodyDeadlines(
  late: (request: IncomingMessage) => void,
  { usualMs = USUAL_MS, lookEveryMs = LOOK_EVERY_MS } = {},
) {
  const open = new Set<Watched>();
  const look = setInterval(() => {
    const now = performance.now();
    for (const each of open) {
      const { request, dueAt } = each;
      const hasEnded = request.complete || request.destroyed;
      if (hasEnded || dueAt < now) open.delete(each);
      if (!hasEnded && dueAt < now) late(request);
    }
  }, lookEveryMs);
  look.unref();
  return {
    /** Starts the usual time limit of this request's body. */
    watch(request: IncomingMessage): Deadline {
      const item = { request, dueAt: performance.now() + usualMs };
      open.add(item);
      return {
        allow(ms) {
          item.dueAt = performance.now() + ms;
        },
        end: () => void open.delete(item),
      };
    },
    stop: () => clearInterval(look),
  };
}
