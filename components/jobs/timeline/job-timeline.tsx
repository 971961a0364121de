"use client";
import { Waterfall } from "@/components/blocks/chart/waterfall";
import { formatDuration, msBetween } from "@/components/time/format";
import { Moment, useNow } from "@/components/time/moment";
import { Section } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import { spaced } from "@/components/ui/wording";
import { TERMINAL } from "@/server/contract/enums";
import type { JobEvent } from "@/server/contract/job-events";
import type { Job } from "@/server/contract/jobs";
import { useJobEvents } from "../job-events";
import { jobSpans } from "./spans";

/** Titles of events whose type does not explain itself. */
const TITLES: Record<string, string> = {
  "job.provider_submitted": "Submitted to provider",
  "job.reader_text": "Text delivered",
  "job.awaiting_approval": "Waiting for approval",
};
const titleOf = (type: string) => TITLES[type] ?? spaced(type.replace("job.", "").replaceAll("_", " "));

const DOTS: [RegExp, string][] = [
  [/succeeded|approved|receipt_sealed|variant_selected/, "bg-good"],
  [/failed|rejected/, "bg-bad"],
  [/awaiting_approval|needs_attention|retry_scheduled|budget_warning/, "bg-warn"],
];

/** A job's timing and events in order, updated live; with their times if `isTimed`. */
export function JobTimeline({ job, isTimed }: { job: Job; isTimed: boolean }) {
  const events = useJobEvents(job);
  return (
    <>
      {isTimed && <JobWaterfall job={job} events={events} />}
      <Section title="Events" hint={events.length === 1 ? "1 event" : `${events.length} events`} isFlush>
        <div role="log" aria-label="Job events" aria-live="polite">
          <ol className="divide-y divide-line-soft">
            {events.map((event, place) => (
              <Entry
                key={event.id}
                event={event}
                before={isTimed ? events[place - 1] : undefined}
                isTimed={isTimed}
              />
            ))}
          </ol>
        </div>
      </Section>
    </>
  );
}

function JobWaterfall({ job, events }: { job: Job; events: readonly JobEvent[] }) {
  const nowMs = useNow(!TERMINAL.includes(job.status));
  return (
    <Section title="Timing" id="timing-title">
      <Waterfall label="Timing" spans={jobSpans(events, nowMs)} />
    </Section>
  );
}

/** One event; when opened, it shows its payload. */
function Entry({
  event: { type, createdAt, payload },
  before,
  isTimed,
}: {
  event: JobEvent;
  before: JobEvent | undefined;
  isTimed: boolean;
}) {
  const dot = DOTS.find(([types]) => types.test(type))?.[1] ?? "bg-line-strong";
  const facts = Object.entries(payload).filter(([, value]) => value !== null && value !== "");
  const head = (
    <span className="inline-flex w-[calc(100%-1.25rem)] flex-wrap items-center gap-x-2 align-top">
      <span aria-hidden className={cn("size-2 rounded-full", dot)} />
      {titleOf(type)}
      {isTimed && (
        <span className="ml-auto flex gap-4 text-xs leading-5 text-muted tabular-nums">
          {before && <span>+{formatDuration(msBetween(before.createdAt, createdAt) ?? 0)}</span>}
          <Moment at={createdAt} />
        </span>
      )}
    </span>
  );
  return (
    <li data-event={type} className="px-4 py-2 text-sm leading-5">
      {facts.length === 0 ? (
        <div className="pl-4">{head}</div>
      ) : (
        <details>
          <summary className="marker:text-faint">{head}</summary>
          <dl className="mt-1.5 space-y-0.5 pl-8 text-xs">
            {facts.map(([name, value]) => (
              <div key={name} className="flex gap-2">
                <dt className="shrink-0 text-muted">{name}</dt>
                <dd className="min-w-0 font-mono text-2xs leading-4 [overflow-wrap:anywhere]">
                  {typeof value === "string" ? value : JSON.stringify(value)}
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </li>
  );
}
