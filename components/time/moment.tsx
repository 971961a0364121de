"use client";
import { useState, useSyncExternalStore } from "react";
import { useConnectionLost } from "@/components/connection/connection";
import { formatAgo, formatDuration, formatMoment } from "./format";

const TICK_MS = 1000;

function everySecond(onTick: () => void) {
  const timer = setInterval(onTick, TICK_MS);
  return () => clearInterval(timer);
}
const never = () => () => {};
const wholeSecond = () => Math.floor(Date.now() / TICK_MS) * TICK_MS;

/** The time now, in steps of a second; shared by everything on the page that counts. */
function useNow(): number {
  return useSyncExternalStore(everySecond, wholeSecond, wholeSecond);
}

/** A moment in the reader's own zone; the server, which does not know it, writes UTC of the same width. */
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

/** How long ago; the moment itself is in the title. */
export function Ago({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at} className="whitespace-nowrap tabular-nums" suppressHydrationWarning>
      {formatAgo(at, useNow())}
    </time>
  );
}

/** The time since a moment, counting; it stops while nobody knows whether the work still goes on. */
export function Elapsed({ since }: { since: string }) {
  const now = useNow();
  const isLost = useConnectionLost();
  const [stoppedAt, setStoppedAt] = useState<number | null>(null);
  if (isLost !== (stoppedAt !== null)) setStoppedAt(isLost ? now : null);
  return (
    <span className="whitespace-nowrap tabular-nums" suppressHydrationWarning>
      {formatDuration(Math.max(0, (stoppedAt ?? now) - new Date(since).getTime()))}
    </span>
  );
}
