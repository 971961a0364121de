"use client";
import { useSyncExternalStore } from "react";

/*
 * Whether the server answers the panel, as the query client and the notice of a lost connection report it.
 */

let isUnanswered = false;
const listeners = new Set<() => void>();

/** Reports that a request of the panel was answered, or that the server could not be reached. */
export function reportAnswered(isAnswered: boolean): void {
  if (isUnanswered !== isAnswered) return;
  isUnanswered = !isAnswered;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** True while the server cannot be reached: what the page shows may be out of date. */
export const useConnectionLost = (): boolean =>
  useSyncExternalStore(
    subscribe,
    () => isUnanswered,
    () => false,
  );
