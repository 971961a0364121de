import { formatRemaining } from "./countdown";
import { Moment } from "./moment";

/** The time left until a moment, and the moment. Screen readers read it on demand and never announce its ticks. */
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
