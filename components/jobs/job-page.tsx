"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import Link from "next/link";
import { comparisonHref } from "@/components/comparisons/list-state";
import { BackLink } from "@/components/shell/back-link";
import { formatDuration, msBetween } from "@/components/time/format";
import { Elapsed, Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable-id";
import { Fact, Facts } from "@/components/ui/facts";
import { Figure, Figures, None } from "@/components/ui/figures";
import { Notice } from "@/components/ui/notice";
import { Skeleton } from "@/components/ui/skeleton";
import type { Job, JobRights } from "@/server/contract/jobs";
import { ApprovalNotice } from "./approval";
import { ArtifactGallery } from "./artifact-gallery";
import { Metadata, Tags } from "./caller-facts";
import { CancelJob } from "./cancel-job";
import { chargeWords } from "./charge-words";
import { AttentionNotice, useRights } from "./job-actions";
import { JobInput, JobOutput } from "./job-content";
import { JobCost } from "./job-cost";
import { pollMs } from "./job-events";
import { JobStatusBadge } from "./job-status";
import { JobTimeline } from "./job-timeline";
import { ProviderSaid } from "./provider-said";
import { ReceiptCard } from "./receipt-card";
import { RetryJob } from "./retry-job";

/** One job: its status, input, output, cost and receipt. */
export function JobPage({ jobId, projectId }: { jobId: string; projectId: string }) {
  const trpc = useTRPC();
  const { data: job } = useSuspenseQuery({
    ...trpc.jobs.get.queryOptions({ job_id: jobId }),
    refetchInterval: (query) => (query.state.data ? pollMs(query.state.data) : false),
  });
  const rights = useRights(job);
  return (
    <>
      <JobHeader job={job} rights={rights} projectId={projectId} />
      <div className="grid grid-cols-1 items-start gap-5 lg:grid-cols-[minmax(0,1fr)_19rem] xl:grid-cols-[minmax(0,1fr)_21rem]">
        <div className="grid min-w-0 grid-cols-1 gap-5">
          <JobNotices job={job} rights={rights} />
          <OutputToCome job={job} />
          <ArtifactGallery job={job} />
          <JobOutput job={job} />
          <JobInput job={job} />
          <ReceiptCard job={job} />
        </div>
        <div className="grid min-w-0 grid-cols-1 gap-5">
          <JobTimeline job={job} isTimed={!isBlind(job)} />
          {!isBlind(job) && <JobCost job={job} />}
          <JobDetails job={job} />
        </div>
      </div>
    </>
  );
}

function JobHeader({
  job,
  rights,
  projectId,
}: {
  job: Job;
  rights: JobRights | undefined;
  projectId: string;
}) {
  return (
    <header className="mb-6">
      <BackLink href={`/projects/${projectId}/jobs`}>Jobs</BackLink>
      <div className="mt-2 flex flex-wrap items-start gap-x-4 gap-y-3">
        <div className="min-w-0 flex-1">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
            <h1 className="min-w-0 text-xl font-semibold [overflow-wrap:anywhere]">{job.capabilityKey}</h1>
            <span role="status">
              <JobStatusBadge status={job.status} />
            </span>
          </div>
          <CopyableId id={job.jobId} what="job id" className="mt-1 text-muted" />
        </div>
        <div className="flex flex-wrap gap-2">
          <RetryJob job={job} rights={rights} projectId={projectId} />
          {rights?.cancel && <CancelJob job={job} />}
        </div>
      </div>
      <Figures>
        <Figure name="Created">
          <Moment at={job.createdAt} />
        </Figure>
        {!isBlind(job) && (
          <>
            <Figure name="Queue time">
              <Span from={job.createdAt} to={job.startedAt ?? job.completedAt} />
            </Figure>
            <Figure name="Run time">
              <Ran job={job} />
            </Figure>
            <Figure name="You pay">{job.charge ? chargeWords(job.charge) : <None />}</Figure>
          </>
        )}
      </Figures>
    </header>
  );
}

function Ran({ job }: { job: Job }) {
  return job.startedAt ? <Span from={job.startedAt} to={job.completedAt} /> : <None />;
}

function Span({ from, to }: { from: string; to: string | null }) {
  const ms = msBetween(from, to);
  return ms === null ? <Elapsed since={from} /> : formatDuration(ms);
}

/** What the reader needs to know first: an error with its meaning, warnings, a pending approval. */
function JobNotices({ job, rights }: { job: Job; rights: JobRights | undefined }) {
  const { error } = job;
  // A cancellation was intended, so it is not an alert.
  const wasCanceled = job.status === "canceled";
  return (
    <>
      <BlindNotice job={job} />
      {error && job.status !== "needs_attention" && (
        <Notice
          tone={wasCanceled ? "busy" : "bad"}
          title={wasCanceled ? "Canceled" : <code>{error.code}</code>}
          role={wasCanceled ? undefined : "alert"}
        >
          <p>{error.message}</p>
          <ProviderSaid job={job} />
          {error.resolution && <p className="mt-1.5 text-xs text-muted">{error.resolution}</p>}
        </Notice>
      )}
      {job.approval && <ApprovalNotice jobId={job.jobId} approval={job.approval} rights={rights} />}
      {job.status === "needs_attention" && <AttentionNotice job={job} rights={rights} />}
      {job.warnings.map((warning, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: warnings have no id and are only ever appended
        <Notice key={index} tone="warn" title="Warning">
          {typeof warning.message === "string" ? warning.message : JSON.stringify(warning)}
        </Notice>
      ))}
    </>
  );
}

const UNDER_WAY: readonly Job["status"][] = ["queued", "running"];

/** Shown in place of the output until it exists, with the progress where it is known. */
function OutputToCome({ job }: { job: Job }) {
  if (!UNDER_WAY.includes(job.status)) return null;
  const { progress } = job;
  return (
    <Card aria-labelledby="to-come-title" aria-busy>
      <CardHeader
        title="Output"
        id="to-come-title"
        hint={progress && [progress.phase, progress.step].filter(Boolean).join(", ")}
      />
      <CardBody className="space-y-2.5">
        {typeof progress?.percent === "number" && (
          <progress
            aria-label="Progress"
            max={100}
            value={progress.percent}
            className="h-1.5 w-full accent-primary"
          />
        )}
        <Skeleton className="h-4 w-4/5" />
        <Skeleton className="h-4 w-3/5" />
        <p className="pt-1 text-xs text-muted">
          {job.status === "queued"
            ? "Waiting for a worker. Output appears here when the job finishes."
            : "Output appears here when the job finishes."}
        </p>
      </CardBody>
    </Card>
  );
}

function JobDetails({ job }: { job: Job }) {
  return (
    <Card aria-labelledby="details-title">
      <CardHeader title="Details" id="details-title" />
      <CardBody>
        <Facts>
          <Fact name="Route">{job.diagnostics?.backendId}</Fact>
          <Fact name="Billing">{job.pricing?.mode}</Fact>
          <Fact name="Environment">{job.environment}</Fact>
          <Fact name="Comparison">
            {job.comparison && <ComparisonLink job={job}>{job.comparison.comparisonId}</ComparisonLink>}
          </Fact>
          <Fact name="Idempotency key">
            {isBlind(job) ? null : <CopyableId id={job.idempotencyKey} what="idempotency key" />}
          </Fact>
          <Fact name="External reference">{job.externalRef}</Fact>
          <Fact name="Correlation id">
            {job.correlationId === job.comparison?.comparisonId ? null : job.correlationId}
          </Fact>
          <Fact name="Retry of">
            {job.retryOf && (
              <Link href={`/jobs/${job.retryOf}`} className="text-link hover:underline">
                {job.retryOf}
              </Link>
            )}
          </Fact>
          <Fact name="Task kind">{job.taskKind}</Fact>
          <Fact name="Product">{job.productId || null}</Fact>
          <Fact name="Tags">{job.tags.length === 0 ? <None /> : <Tags tags={job.tags} />}</Fact>
        </Facts>
        <Metadata metadata={job.metadata} />
      </CardBody>
    </Card>
  );
}

/** Whether this job's model, cost and duration are hidden: they are until its comparison is judged. */
const isBlind = ({ comparison }: Pick<Job, "comparison">) => comparison?.isJudged === false;

/** States on a blind job's page what is hidden, and links to its comparison. */
function BlindNotice({ job }: { job: Job }) {
  if (!job.comparison || !isBlind(job)) return null;
  return (
    <Notice tone="busy" title="Blind comparison entry">
      <p>
        The model, cost, duration and receipt are hidden until the comparison is judged.{" "}
        <ComparisonLink job={job}>Open comparison</ComparisonLink>
      </p>
    </Notice>
  );
}

function ComparisonLink({ job, children }: { job: Job; children: string }) {
  if (!job.comparison) return null;
  return (
    <Link
      href={comparisonHref(job.projectId, job.comparison.comparisonId)}
      className="text-link underline underline-offset-2"
    >
      {children}
    </Link>
  );
}
