"use client";
import { formatRemaining } from "@/components/time/countdown";
import { Countdown } from "@/components/time/countdown-text";
import { useServerNow } from "@/components/time/server-now";

/** The time left to decide, by the server's clock, and the deadline. */
export function Due({ until, now }: { until: string; now: string }) {
  return <Countdown until={until} nowMs={useServerNow(now, until)} over="now" />;
}

/** Only the time left, for narrow places. */
export function TimeLeft({ until, now }: { until: string; now: string }) {
  const left = formatRemaining(Date.parse(until) - useServerNow(now, until));
  return <span className="whitespace-nowrap tabular-nums">{left ?? "now"}</span>;
}
