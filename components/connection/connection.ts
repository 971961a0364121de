"use client";
import { useSyncExternalStore } from "react";

/* The state of the connection to the server, as reported by the query client and the connection notice. */

let isUnanswered = false;
const listeners = new Set<() => void>();

/** Reports that a request of the panel got a response, or that the server could not be reached. */
export function reportAnswered(isAnswered: boolean): void {
  if (isUnanswered !== isAnswered) return;
  isUnanswered = !isAnswered;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** True while the server cannot be reached, so that the page may be out of date. */
export const useConnectionLost = (): boolean =>
  useSyncExternalStore(
    subscribe,
    () => isUnanswered,
    () => false,
  );
