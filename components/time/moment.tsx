"use client";
import { useState, useSyncExternalStore } from "react";
import { useConnectionLost } from "@/components/connection/connection";
import { formatAgo, formatDuration, formatMoment, msBetween } from "./format";

const TICK_MS = 1000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** One timer for every counter of the page; it stops while there is none. */
function everySecond(onTick: () => void) {
  listeners.add(onTick);
  timer ??= setInterval(() => {
    for (const listener of listeners) listener();
  }, TICK_MS);
  return () => {
    listeners.delete(onTick);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}
const never = () => () => {};
const wholeSecond = () => Math.floor(Date.now() / TICK_MS) * TICK_MS;

/** A value that follows from the current time; the component renders again only when the value changes. */
function useByTime<Value extends string | number>(read: (nowMs: number) => Value, isRunning = true): Value {
  const now = () => read(wholeSecond());
  return useSyncExternalStore(isRunning ? everySecond : never, now, now);
}

/** A moment in the reader's time zone. The server does not know the zone and renders UTC of the same width. */
export function Moment({ at }: { at: string }) {
  const zone = useSyncExternalStore(
    never,
    () => "local" as const,
    () => "utc" as const,
  );
  return (
    <time dateTime={at} title={at} className="whitespace-nowrap tabular-nums">
      {formatMoment(at, zone)}
    </time>
  );
}

/** Time since a moment; the title has the exact moment. */
export function Ago({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at} className="whitespace-nowrap tabular-nums" suppressHydrationWarning>
      {useByTime((nowMs) => formatAgo(at, nowMs))}
    </time>
  );
}

/** The current time in milliseconds, updated each second while `isRunning`. It pauses while the connection is lost. */
export function useNow(isRunning = true): number {
  const now = useByTime((nowMs) => nowMs, isRunning);
  const isLost = useConnectionLost();
  const [stoppedAt, setStoppedAt] = useState<number | null>(null);
  if (isLost !== (stoppedAt !== null)) setStoppedAt(isLost ? now : null);
  return stoppedAt ?? now;
}

/** A running count of the time since a moment. It pauses while the connection is lost. */
export function Elapsed({ since }: { since: string }) {
  const now = useNow();
  return (
    <span className="whitespace-nowrap tabular-nums" suppressHydrationWarning>
      {formatDuration(Math.max(0, now - new Date(since).getTime()))}
    </span>
  );
}

/** The duration of something, or its duration so far. */
export function Took({ from, to }: { from: string; to: string | null }) {
  const ms = msBetween(from, to);
  return ms === null ? <Elapsed since={from} /> : formatDuration(ms);
}
