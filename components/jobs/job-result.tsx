"use client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { isJsonObject, memberOf, textIn } from "@/components/blocks/data/unknown";
import { Failure } from "@/components/blocks/feedback/failure";
import { useTRPC } from "@/components/data/trpc";
import { formatDuration } from "@/components/time/format";
import { useNow } from "@/components/time/moment";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import { Notice } from "@/components/ui/notice";
import { Skeleton } from "@/components/ui/skeleton";
import { isPrivate } from "@/server/contract/enums";
import type { Job, JobRights } from "@/server/contract/jobs";
import { ApprovalNotice } from "./approval";
import { ArtifactGallery } from "./artifact-gallery";
import { BlindNotice, isBlind } from "./blind";
import { AttentionNotice } from "./job-actions";
import { JobInput, JobOutput } from "./job-content";
import { warningWords } from "./warning-words";

type Props = { job: Job; rights: JobRights | undefined };

/**
 * A job's artifacts or output, else the reason why it has none and the next step. A waiting job shows the request to decide
 * on.
 */
export function JobResult({ job, rights }: Props) {
  return (
    <>
      <JobNotices job={job} rights={rights} />
      <OutputToCome job={job} />
      <ArtifactGallery job={job} />
      {job.artifacts.length === 0 ? (
        <JobOutput job={job} />
      ) : (
        <details>
          <summary className="w-fit rounded text-sm text-muted hover:text-text">Output as JSON</summary>
          <div className="mt-3">
            <JobOutput job={job} />
          </div>
        </details>
      )}
      {job.status === "awaiting_approval" && <JobInput job={job} />}
    </>
  );
}

/** Notices above the result: an error with its next step, warnings, a pending approval. */
function JobNotices({ job, rights }: Props) {
  const { error } = job;
  return (
    <>
      <BlindNotice job={job} />
      {error && job.status !== "needs_attention" && (
        <Failure error={error} isIntended={job.status === "canceled"}>
          <ProviderSaid job={job} />
        </Failure>
      )}
      {job.approval && <ApprovalNotice jobId={job.jobId} approval={job.approval} rights={rights} />}
      {job.status === "needs_attention" && <AttentionNotice job={job} rights={rights} />}
      {job.warnings.map((warning, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: warnings have no id and are only ever appended
        <Notice key={index} tone="warn" title="Warning">
          {warningWords(warning)}
        </Notice>
      ))}
    </>
  );
}

const UNDER_WAY: readonly Job["status"][] = ["queued", "running"];

/** Shown in place of the output until it exists: the progress, or the elapsed time beside the usual duration. */
function OutputToCome({ job }: { job: Job }) {
  if (!UNDER_WAY.includes(job.status)) return null;
  const { progress } = job;
  return (
    <Section
      title="Output"
      hint={progress && [progress.phase, progress.step].filter(Boolean).join(", ")}
      aria-busy
      bodyClassName="space-y-2.5"
    >
      {typeof progress?.percent === "number" && (
        <progress aria-label="Progress" max={100} value={progress.percent} className={BAR} />
      )}
      {job.startedAt && !isBlind(job) && <Usual jobId={job.jobId} since={job.startedAt} />}
      <Skeleton className="h-4 w-4/5" />
      <Skeleton className="h-4 w-3/5" />
      <p className="pt-1 text-xs text-muted">
        {job.status === "queued"
          ? "Waiting for a worker. Output appears here when the job finishes."
          : "Output appears here when the job finishes."}
      </p>
    </Section>
  );
}

const BAR = "h-1.5 w-full accent-primary";

/** The time since a job started beside the median of earlier runs; renders nothing while there is no median. */
function Usual({ jobId, since }: { jobId: string; since: string }) {
  const trpc = useTRPC();
  const { data: usual } = useQuery(
    trpc.jobs.usualRun.queryOptions({ job_id: jobId }, { staleTime: Infinity }),
  );
  const elapsedMs = Math.max(0, useNow(Boolean(usual)) - Date.parse(since));
  if (!usual) return null;
  return (
    <div className="text-xs text-muted tabular-nums">
      <progress
        aria-label="Run time beside the median"
        max={usual.medianMs}
        value={Math.min(elapsedMs, usual.medianMs)}
        className={BAR}
      />
      <p>
        {formatDuration(elapsedMs)} of usually {formatDuration(usual.medianMs)}, the median of the last{" "}
        {usual.runs} runs.
      </p>
    </div>
  );
}

function saidIn({ error }: Job) {
  const said = memberOf(memberOf(error, "details"), "provider");
  if (!isJsonObject(said)) return null;
  return {
    status: typeof said.status === "number" ? said.status : null,
    code: textIn(said, "code"),
    message: textIn(said, "message"),
  };
}

/** The provider's response to a failed job. A private job's message is shown only on request. */
function ProviderSaid({ job }: { job: Job }) {
  const trpc = useTRPC();
  const [isAsked, setAsked] = useState(false);
  const whole = useQuery({
    ...trpc.jobs.content.queryOptions({ job_id: job.jobId }),
    enabled: isAsked,
    staleTime: 0,
  });
  const said = saidIn(whole.data ?? job);
  if (!said) return null;
  const { status, code, message } = said;
  const head = [status === null ? null : `HTTP ${status}`, code].filter(Boolean).join(", ");
  return (
    <div className="mt-1.5 text-xs text-muted">
      <p className="break-words">
        Provider response{head && `: ${head}`}
        {message && <q className="ml-1.5">{message}</q>}
      </p>
      {isPrivate(job.dataClassification) && !isAsked && (
        <Button size="sm" onClick={() => setAsked(true)}>
          Show provider message
        </Button>
      )}
    </div>
  );
}
