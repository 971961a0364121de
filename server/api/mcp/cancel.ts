/* The calls that run in this process, by session and by the id their client gave them. */

const running = new Map<string, AbortController>();
const nameOf = (session: string, requestId: string) => `${session} ${requestId}`;

/** Notes a call that may be cancelled until it is closed. */
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

/** Cancels the call a notification names, if it runs here. */
export function cancelCall(session: string, params: unknown): void {
  const { requestId } = (params ?? {}) as { requestId?: unknown }; // of a notification, which is not to be refused
  if (typeof requestId === "string" || typeof requestId === "number")
    running.get(nameOf(session, String(requestId)))?.abort();
}
