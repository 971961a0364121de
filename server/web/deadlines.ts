import type { IncomingMessage } from "node:http";

/** How long a body may take where no one allows it longer. */
const USUAL_MS = 300_000;
const LOOK_EVERY_MS = 5_000;

/** Of one body. */
export type Deadline = {
  /** From now on it has this long. */
  allow(ms: number): void;
  /** The request was answered; what is still to come of its body is not waited for. */
  end(): void;
};

type Watched = { request: IncomingMessage; dueAt: number };

/**
 * Ends requests whose bodies take too long. Node has one limit for every request of a server; here an endpoint may allow
 * its own more, so that a long upload is no reason to be patient with everybody.
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
    /** This request's body has the usual time from here on. */
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
