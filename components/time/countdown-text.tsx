import { formatRemaining } from "./countdown";
import { Moment } from "./moment";

/** What is left until a moment, and the moment. A timer is read when it is asked for, never announced as it moves. */
export function Countdown({ until, nowMs, over }: { until: string; nowMs: number; over: string }) {
  const left = formatRemaining(Date.parse(until) - nowMs);
  return (
    <>
      <span role="timer" aria-live="off" className="whitespace-nowrap tabular-nums">
        {left === null ? over : `in ${left}`}
      </span>{" "}
      <span className="text-muted">
        (<Moment at={until} />)
      </span>
    </>
  );
}
