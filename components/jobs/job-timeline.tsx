"use client";
import {
  Ban,
  Check,
  CircleDashed,
  CircleX,
  FileBox,
  Hand,
  type LucideIcon,
  OctagonAlert,
  Play,
  ReceiptText,
  RefreshCw,
  Send,
  Shapes,
  Timer,
  Wallet,
} from "lucide-react";
import { useConnectionLost } from "@/components/connection/connection";
import { formatDuration, msBetween } from "@/components/time/format";
import { Moment } from "@/components/time/moment";
import { Card, CardHeader } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import type { Job, JobEvent } from "@/server/contract/jobs";
import { isComplete, useJobEvents } from "./job-events";

const LOOKS: Record<string, { title: string; icon: LucideIcon; tone?: string }> = {
  "job.queued": { title: "Queued", icon: CircleDashed },
  "job.started": { title: "Started", icon: Play, tone: "text-busy" },
  "job.progress": { title: "Progress", icon: Timer, tone: "text-busy" },
  "job.provider_submitted": { title: "Submitted to provider", icon: Send, tone: "text-busy" },
  "job.reader_text": { title: "Text delivered", icon: Shapes },
  "job.artifact_stored": { title: "Artifact stored", icon: FileBox },
  "job.awaiting_approval": { title: "Waiting for approval", icon: Hand, tone: "text-warn" },
  "job.approved": { title: "Approved", icon: Check, tone: "text-good" },
  "job.rejected": { title: "Rejected", icon: CircleX, tone: "text-bad" },
  "job.cancel_requested": { title: "Cancel requested", icon: Ban },
  "job.variant_selected": { title: "Variant selected", icon: Check, tone: "text-good" },
  "job.budget_warning": { title: "Budget warning", icon: Wallet, tone: "text-warn" },
  "job.retry_scheduled": { title: "Retry scheduled", icon: RefreshCw, tone: "text-warn" },
  "job.succeeded": { title: "Succeeded", icon: Check, tone: "text-good" },
  "job.failed": { title: "Failed", icon: CircleX, tone: "text-bad" },
  "job.canceled": { title: "Canceled", icon: Ban },
  "job.needs_attention": { title: "Needs attention", icon: OctagonAlert, tone: "text-warn" },
  "job.receipt_sealed": { title: "Receipt sealed", icon: ReceiptText, tone: "text-good" },
};

/** A job's events in order, updated live; with their times if `isTimed`. */
export function JobTimeline({ job, isTimed }: { job: Job; isTimed: boolean }) {
  const events = useJobEvents(job);
  const isLive = !isComplete(job, events);
  const isLost = useConnectionLost();
  return (
    <Card aria-labelledby="timeline-title">
      <CardHeader
        title="Timeline"
        id="timeline-title"
        actions={
          isLive && isLost ? (
            <span className="text-xs text-warn">Paused</span>
          ) : isLive ? (
            <span className="inline-flex items-center gap-1.5 text-xs text-busy">
              <span aria-hidden className="size-2 animate-pulse rounded-full bg-busy" />
              Live
            </span>
          ) : (
            <span className="text-xs text-muted tabular-nums">
              {events.length === 1 ? "1 event" : `${events.length} events`}
            </span>
          )
        }
      />
      <div role="log" aria-label="Job events" aria-live="polite" className="px-4 py-3.5">
        <ol>
          {events.map((event, index) => (
            <TimelineEntry
              key={event.id}
              event={event}
              sincePrevious={
                isTimed ? msBetween(events[index - 1]?.createdAt ?? null, event.createdAt) : null
              }
              isTimed={isTimed}
              isLast={index === events.length - 1}
            />
          ))}
        </ol>
      </div>
    </Card>
  );
}

/** One line; the title has the full text. */
function PayloadValue({ value }: { value: unknown }) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return (
    <dd className="min-w-0 truncate font-mono text-2xs leading-4.5" title={text}>
      {text}
    </dd>
  );
}

function TimelineEntry({
  event,
  sincePrevious,
  isTimed,
  isLast,
}: {
  event: JobEvent;
  sincePrevious: number | null;
  /** False: the time is hidden. */
  isTimed: boolean;
  isLast: boolean;
}) {
  const { title, icon: Icon, tone } = LOOKS[event.type] ?? { title: event.type, icon: Shapes };
  const facts = Object.entries(event.payload).filter(([, value]) => value !== null && value !== "");
  return (
    <li className={cn("relative flex gap-3", !isLast && "pb-4")} data-event={event.type}>
      {!isLast && <span aria-hidden className="absolute top-7 bottom-1 left-3 w-px bg-line" />}
      <span
        className={cn(
          "relative grid size-6 shrink-0 place-items-center rounded-full border border-line bg-sunken text-muted",
          tone,
        )}
      >
        <Icon aria-hidden className="size-3.5" />
      </span>
      <div className="min-w-0 flex-1">
        <div className="flex items-baseline justify-between gap-3">
          <span className="text-sm leading-6 font-medium">{title}</span>
          {sincePrevious !== null && (
            <span className="text-xs whitespace-nowrap text-muted tabular-nums">
              +{formatDuration(sincePrevious)}
            </span>
          )}
        </div>
        {isTimed && (
          <div className="text-xs text-muted">
            <Moment at={event.createdAt} />
          </div>
        )}
        {facts.length > 0 && (
          <dl className="mt-1 space-y-0.5 text-xs">
            {facts.map(([name, value]) => (
              <div key={name} className="flex min-w-0 gap-2">
                <dt className="shrink-0 text-muted">{name}</dt>
                <PayloadValue value={value} />
              </div>
            ))}
          </dl>
        )}
      </div>
    </li>
  );
}
