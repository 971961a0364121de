"use client";
import { ArrowUpRight } from "lucide-react";
import { BudgetWall } from "@/components/budgets/budget-wall";
import { ArtifactGallery } from "@/components/jobs/artifact-gallery";
import { chargeWords } from "@/components/jobs/charge-words";
import { JobOutput } from "@/components/jobs/job-content";
import { JobStatusBadge } from "@/components/jobs/job-status";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import Link from "@/components/ui/link";
import { Notice } from "@/components/ui/notice";
import { Skeleton } from "@/components/ui/skeleton";
import { TERMINAL } from "@/server/contract/enums";
import { Refused } from "./refused";
import type { PlaygroundRun } from "./use-run";

/** A run's progress, text, artifacts and record. */
export default function Result({ run, projectId }: { run: PlaygroundRun; projectId: string }) {
  const { job } = run;
  const hasEnded = run.state === "ended";
  const isText = run.mode === "invoke_stream" && !(hasEnded && job?.typedOutput);
  return (
    <div className="space-y-4" data-run={run.state}>
      <Section
        title="Run"
        hint={job ? <JobStatusBadge status={job.status} /> : run.state === "sending" ? "Sending …" : null}
        actions={
          run.canCancel && (
            <Button size="sm" variant="danger" onClick={run.cancel}>
              Cancel run
            </Button>
          )
        }
        aria-busy={!hasEnded}
        bodyClassName="space-y-3"
      >
        {run.failure && (
          <Refused
            failure={run.failure}
            fieldsRefused="Some fields are invalid. Fix the marked fields and try again."
          >
            <BudgetWall projectId={projectId} failure={run.failure} />
          </Refused>
        )}
        {job?.error && !run.failure && (
          <Notice
            tone={job.status === "canceled" ? "busy" : "bad"}
            title={<code>{job.error.code}</code>}
            role="alert"
          >
            {job.error.message}
          </Notice>
        )}
        {!hasEnded && !isText && <Progress run={run} />}
        {isText && (
          <p
            dir="auto"
            aria-live="polite"
            className="min-h-16 text-base whitespace-pre-wrap [overflow-wrap:anywhere]"
            data-stream
          >
            {run.text || (hasEnded ? "" : "…")}
          </p>
        )}
        {run.jobId && (
          <p className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
            <Link
              href={`/projects/${projectId}/jobs/${run.jobId}`}
              className="inline-flex items-center gap-1 text-link hover:underline"
            >
              Record and receipt
              <ArrowUpRight aria-hidden className="size-3.5" />
            </Link>
            {job?.charge && TERMINAL.includes(job.status) && (
              <span className="text-muted tabular-nums">You pay {chargeWords(job.charge)}</span>
            )}
            {job?.receiptId && <code className="text-xs text-muted">{job.receiptId}</code>}
          </p>
        )}
      </Section>
      {job && hasEnded && <ArtifactGallery job={job} />}
      {job && hasEnded && <JobOutput job={job} />}
    </div>
  );
}

function Progress({ run }: { run: PlaygroundRun }) {
  const progress = run.job?.progress;
  return (
    <div className="space-y-2.5">
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
      <p className="text-xs text-muted">
        {progress ? [progress.phase, progress.step].filter(Boolean).join(", ") : null}
        {!progress && (run.job?.status === "queued" ? "Waiting for a worker." : "Running.")}
      </p>
    </div>
  );
}
