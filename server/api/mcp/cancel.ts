/* The running calls of this process, by session and by the id that their client assigned. */

const running = new Map<string, AbortController>();
const nameOf = (session: string, requestId: string) => `${session} ${requestId}`;

/** Registers a call that can be cancelled until it is closed. */
export function openCall(session: string, requestId: string): { signal: AbortSignal; close(): void } {
  const name = nameOf(session, requestId);
  const controller = new AbortController();
  running.set(name, controller);
  return {
    signal: controller.signal,
    close() {
      if (running.get(name) === controller) running.delete(name);
    },
  };
}

/** Cancels the call that a notification names, if it runs in this process. */
export function cancelCall(session: string, params: unknown): void {
  const { requestId }: { requestId?: unknown } = params ?? {}; // a notification is never refused
  if (typeof requestId === "string" || typeof requestId === "number")
    running.get(nameOf(session, String(requestId)))?.abort();
}
