import type { IncomingMessage } from "node:http";

/** How long a body may take where nobody allows it longer. */
const USUAL_MS = 300_000;
const LOOK_EVERY_MS = 5_000;

export type Deadlines = ReturnType<typeof bodyDeadlines>;

/**
 * Ends requests whose bodies take too long. Node has one limit for every request of a server; here an endpoint may allow
 * its own more, so that a long upload is no reason to be patient with everybody.
 */
export function bodyDeadlines(
  late: (request: IncomingMessage) => void,
  { usualMs = USUAL_MS, lookEveryMs = LOOK_EVERY_MS } = {},
) {
  const due = new Map<IncomingMessage, number>();
  const look = setInterval(() => {
    const now = performance.now();
    for (const [request, at] of due) {
      if (request.complete || request.destroyed) due.delete(request);
      else if (at < now) {
        due.delete(request);
        late(request);
      }
    }
  }, lookEveryMs);
  look.unref();
  return {
    /** From here on this request's body has this long. */
    allow(request: IncomingMessage, ms = usualMs): void {
      due.set(request, performance.now() + ms);
    },
    /** The request was answered; what is still to come of its body is not waited for. */
    end(request: IncomingMessage): void {
      due.delete(request);
    },
    stop: () => clearInterval(look),
  };
}
