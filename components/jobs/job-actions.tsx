"use client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { toast } from "sonner";
import { useTRPC } from "@/components/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import { Button } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";
import type { Job, JobRights } from "@/server/contract/jobs";
import { useRefresh } from "./approval";

/** The actions the reader may take on the job now; none while that is unknown. */
export function useRights(job: Job): JobRights | undefined {
  const trpc = useTRPC();
  return useQuery(trpc.jobs.rights.queryOptions({ job_id: job.jobId, status: job.status })).data;
}

/** The notice of a job that needs an operator, with the operator's actions. */
export function AttentionNotice({ job, rights }: { job: Job; rights: JobRights | undefined }) {
  const onSettled = useRefresh(job.jobId);
  return (
    <Notice tone="warn" title="Needs attention">
      <p>
        The provider’s result was paid for, but a later step keeps failing. An operator must decide what to
        do.
      </p>
      {rights?.operate && (
        <div className="mt-3">
          <OperatorActions jobId={job.jobId} onSettled={onSettled} />
        </div>
      )}
    </Notice>
  );
}

/** The operator's three actions on a job that needs attention. */
export function OperatorActions({ jobId, onSettled }: { jobId: string; onSettled: () => Promise<unknown> }) {
  const trpc = useTRPC();
  const retry = useMutation(
    trpc.attention.retry.mutationOptions({
      onSuccess: () => toast.success("Step retried"),
      onSettled,
    }),
  );
  const accept = useMutation(
    trpc.attention.accept.mutationOptions({ onSuccess: () => toast.success("Job accepted"), onSettled }),
  );
  const fail = useMutation(
    trpc.attention.fail.mutationOptions({ onSuccess: () => toast.success("Job failed"), onSettled }),
  );
  const isPending = retry.isPending || accept.isPending || fail.isPending;
  const ask = { job_id: jobId };
  return (
    <div className="flex flex-wrap gap-2">
      <Way
        label="Retry step"
        title="Retry this step?"
        description="The paid result is processed and stored again. Nothing is sent to a provider."
        isPending={isPending}
        onConfirm={() => retry.mutate(ask)}
      />
      <Way
        label="Accept"
        title="Accept this job?"
        description="The job succeeds with the files that were stored. Files that could not be stored are lost."
        isPending={isPending}
        onConfirm={() => accept.mutate(ask)}
      />
      <Way
        label="Fail"
        title="Fail this job?"
        description="The job ends as failed. The provider’s work is charged."
        isPending={isPending}
        onConfirm={() => fail.mutate(ask)}
      />
    </div>
  );
}

function Way({
  label,
  title,
  description,
  isPending,
  onConfirm,
}: {
  label: string;
  title: string;
  description: ReactNode;
  isPending: boolean;
  onConfirm: () => void;
}) {
  return (
    <Confirm title={title} description={description} action={label} onConfirm={onConfirm}>
      <Button disabled={isPending}>{label}</Button>
    </Confirm>
  );
}
