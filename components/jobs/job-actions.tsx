"use client";
import { type QueryKey, useQuery } from "@tanstack/react-query";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { useTRPC } from "@/components/data/trpc";
import { Notice } from "@/components/ui/notice";
import type { Job, JobRights } from "@/server/contract/jobs";
import { useShownJobs } from "./approval";

/** The actions the reader may take on the job now; undefined while they are unknown. */
export function useRights(job: Job): JobRights | undefined {
  const trpc = useTRPC();
  return useQuery(trpc.jobs.rights.queryOptions({ job_id: job.jobId, status: job.status })).data;
}

/** The notice of a job that needs an operator, with the operator's actions. */
export function AttentionNotice({ job, rights }: { job: Job; rights: JobRights | undefined }) {
  const refresh = useShownJobs(job.jobId);
  return (
    <Notice tone="warn" title="Needs attention">
      <p>
        The provider’s result was paid for, but a later step keeps failing. An operator must decide what to
        do.
      </p>
      {rights?.operate && (
        <div className="mt-3">
          <OperatorActions jobId={job.jobId} refresh={refresh} />
        </div>
      )}
    </Notice>
  );
}

const ACTS = [
  {
    act: "retry",
    label: "Retry step",
    title: "Retry this step?",
    description: "The paid result is processed and stored again. Nothing is sent to a provider.",
  },
  {
    act: "accept",
    label: "Accept",
    title: "Accept this job?",
    description: "The job succeeds with the files that were stored. Files that could not be stored are lost.",
  },
  {
    act: "fail",
    label: "Fail",
    title: "Fail this job?",
    description: "The job ends as failed. The provider’s work is charged.",
  },
] as const;

/** The operator's three actions on a job that needs attention. */
export function OperatorActions({ jobId, refresh }: { jobId: string; refresh: QueryKey[] }) {
  const { attention } = useTRPC();
  const acts = {
    retry: useAction(attention.retry.mutationOptions(), { refresh, done: "Step retried" }),
    accept: useAction(attention.accept.mutationOptions(), { refresh, done: "Job accepted" }),
    fail: useAction(attention.fail.mutationOptions(), { refresh, done: "Job failed" }),
  };
  const disabled = ACTS.some(({ act }) => acts[act].isPending);
  return (
    <div className="flex flex-wrap gap-2">
      {ACTS.map(({ act, ...asked }) => (
        <ConfirmAction
          key={act}
          size="sm"
          {...asked}
          disabled={disabled}
          onConfirm={() => acts[act].mutate({ job_id: jobId })}
        />
      ))}
    </div>
  );
}
