import type { Span } from "@/components/blocks/chart/waterfall";
import type { JobEvent } from "@/server/contract/job-events";

/** The phase that starts with an event. Other events lie within a phase; null if the job has ended. */
const PHASES: Record<string, Pick<Span, "name" | "kind"> | null> = {
  "job.queued": { name: "Queue wait", kind: "wait" },
  "job.awaiting_approval": { name: "Approval wait", kind: "wait" },
  "job.started": { name: "Run", kind: "work" },
  "job.provider_submitted": { name: "Provider", kind: "provider" },
  "job.retry_scheduled": { name: "Retry wait", kind: "wait" },
  "job.needs_attention": { name: "Operator wait", kind: "wait" },
  "job.cancel_requested": { name: "Cancellation", kind: "work" },
  "job.succeeded": null,
  "job.failed": null,
  "job.canceled": null,
};

type Timed = Pick<JobEvent, "type" | "createdAt" | "payload">;

/** A job's phases in order and their total; an unfinished one lasts until `nowMs`. Empty before the first event. */
export function jobSpans(events: readonly Timed[], nowMs: number): Span[] {
  const turns = events.filter(({ type }) => PHASES[type] !== undefined);
  const [first] = turns;
  if (!first) return [];
  const startMs = Date.parse(first.createdAt);
  const at = (event: Timed | undefined) =>
    Math.max(0, (event ? Date.parse(event.createdAt) : nowMs) - startMs);
  const spans = turns.flatMap((turn, place): Span[] => {
    const phase = PHASES[turn.type];
    const next = turns[place + 1];
    if (!phase) return [];
    const name =
      turn.type === "job.started" && next?.type === "job.provider_submitted" ? "Preparation" : phase.name;
    const span = { ...phase, name, key: `${place}`, fromMs: at(turn), toMs: Math.max(at(turn), at(next)) };
    if (!next) return [{ ...span, outcome: "still running" }];
    return [
      next.type === "job.failed" ? { ...span, outcome: String(next.payload.code), wentWell: false } : span,
    ];
  });
  const end = turns.findLast(({ type }) => PHASES[type] === null);
  return [...spans, { key: "total", name: "Total", kind: "total", fromMs: 0, toMs: at(end) }];
}
