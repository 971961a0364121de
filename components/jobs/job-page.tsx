"use client";
import dynamic from "next/dynamic";
import { useLive } from "@/components/blocks/data/use-live";
import { PageTabs } from "@/components/blocks/detail/page-tabs";
import { dollars } from "@/components/blocks/money/money";
import { useConnectionLost } from "@/components/connection/connection";
import { PageHeader } from "@/components/shell/page-header";
import { Moment, Took } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { CopyableId } from "@/components/ui/copyable-id";
import { Figure, Figures, None } from "@/components/ui/figures";
import { isPrivate, TERMINAL } from "@/server/contract/enums";
import type { Job, JobRights } from "@/server/contract/jobs";
import { subjectOf } from "@/server/contract/subject";
import { isBlind } from "./blind";
import { CancelJob } from "./cancel-job";
import { chargeOf, chargeWords } from "./charge-words";
import { useRights } from "./job-actions";
import { JobRequest } from "./job-content";
import { pollMs } from "./job-events";
import { JobRail } from "./job-rail";
import { JobResult } from "./job-result";
import { JobStatusBadge } from "./job-status";
import { RetryJob } from "./retry-job";

import { JobTimeline } from "./timeline/job-timeline";

const ReceiptCard = dynamic(() => import("./receipt-card").then((module) => module.ReceiptCard));

/** One job: what is paid for it and, in tabs, its result, timeline, receipt and request. */
export function JobPage({ jobId, projectId }: { jobId: string; projectId: string }) {
  const trpc = useTRPC();
  const live = useLive(trpc.jobs.get.queryOptions({ job_id: jobId }), (read) => pollMs(read));
  const job = live.data;
  const rights = useRights(job);
  return (
    <>
      <JobHeader job={job} rights={rights} projectId={projectId} />
      <div className="grid grid-cols-1 items-start gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <PageTabs
          label="Parts of the job"
          aside={!TERMINAL.includes(job.status) && <Freshness {...live} />}
          tabs={[
            { id: "result", name: "Result", content: <JobResult job={job} rights={rights} /> },
            { id: "timeline", name: "Timeline", content: <JobTimeline job={job} isTimed={!isBlind(job)} /> },
            { id: "receipt", name: "Receipt", content: <Receipt job={job} /> },
            { id: "request", name: "Request", content: <JobRequest job={job} /> },
          ]}
        />
        <JobRail job={job} />
      </div>
    </>
  );
}

/** Whether the page follows the job, and since when it does not. */
function Freshness({ isStale, dataUpdatedAt }: { isStale: boolean; dataUpdatedAt: number }) {
  if (useConnectionLost() || isStale)
    return (
      <span className="text-warn">
        Paused, as of <Moment at={new Date(dataUpdatedAt).toISOString()} />
      </span>
    );
  return (
    <span className="inline-flex items-center gap-1.5 text-busy">
      <span aria-hidden className="size-2 animate-pulse rounded-full bg-busy" />
      Live
    </span>
  );
}

function Receipt({ job }: { job: Job }) {
  if (job.receiptId !== null) return <ReceiptCard job={job} receiptId={job.receiptId} />;
  return (
    <p className="text-sm text-muted">
      {isBlind(job)
        ? "The receipt is hidden until the comparison is judged."
        : "The receipt is sealed when the job ends."}
    </p>
  );
}

type Props = { job: Job; rights: JobRights | undefined; projectId: string };

function JobHeader({ job, rights, projectId }: Props) {
  const subject = isPrivate(job.dataClassification) ? "Private content" : subjectOf(job);
  return (
    <PageHeader
      back={{ href: `/projects/${projectId}/jobs`, label: "Jobs" }}
      title={subject ?? job.capabilityKey}
      badge={<JobStatusBadge status={job.status} />}
      id={
        <span className="flex flex-wrap items-center gap-x-3 text-sm text-muted">
          {subject !== null && job.capabilityKey}
          <CopyableId id={job.jobId} what="job id" />
        </span>
      }
      actions={
        <>
          <RetryJob job={job} rights={rights} projectId={projectId} />
          {rights?.cancel && <CancelJob job={job} />}
        </>
      }
      foot={
        <Figures>
          {!isBlind(job) && (
            <>
              <YouPay job={job} />
              <Figure name="Queue time">
                <Took from={job.createdAt} to={job.startedAt ?? job.completedAt} />
              </Figure>
              <Figure name="Run time">
                {job.startedAt ? <Took from={job.startedAt} to={job.completedAt} /> : <None />}
              </Figure>
            </>
          )}
          <Figure name="Created" isWide>
            <Moment at={job.createdAt} />
          </Figure>
        </Figures>
      }
    />
  );
}

/** The amount, and below it why it is this one. */
function YouPay({ job: { charge, chargeResolution } }: { job: Job }) {
  const { micros = null, note } = charge ? chargeOf(charge) : {};
  return (
    <Figure
      name="You pay"
      isWide
      note={[note, chargeResolution && "set by a person"].filter(Boolean).join(", ")}
    >
      <span className="text-xl font-semibold">
        {micros !== null ? dollars(micros) : charge ? chargeWords(charge) : <None />}
      </span>
    </Figure>
  );
}
