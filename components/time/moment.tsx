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

/** The current time in steps of a second, shared by every counter on the page. */
function useNow(): number {
  return useSyncExternalStore(everySecond, wholeSecond, wholeSecond);
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
      {formatAgo(at, useNow())}
    </time>
  );
}

/** A running count of the time since a moment. It pauses while the connection is lost. */
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
