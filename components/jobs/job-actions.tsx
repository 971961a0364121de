"use client";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Check, CircleX, RefreshCw } from "lucide-react";
import { useRouter } from "next/navigation";
import type { ReactNode } from "react";
import { toast } from "sonner";
import { Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import { Button } from "@/components/ui/button";
import { Fact, Facts } from "@/components/ui/facts";
import { Notice } from "@/components/ui/notice";
import type { Job, JobApproval, JobRights } from "@/server/contract/jobs";
import { eventsKey } from "./events-key";
import { formatUsd } from "./format-usd";

/** What the reader may do with the job as it stands; nothing while that is not known. */
export function useRights(job: Job): JobRights | undefined {
  const trpc = useTRPC();
  return useQuery(trpc.jobs.rights.queryOptions({ job_id: job.jobId, status: job.status })).data;
}

/** After something was decided: the job, its list and its events are read again. */
function useRefresh(job: Job) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  return () =>
    Promise.all([
      queryClient.invalidateQueries({ queryKey: trpc.jobs.pathKey() }),
      queryClient.invalidateQueries({ queryKey: eventsKey(job.jobId) }),
    ]);
}

/** The wait for a person, with what there is to decide on and, for who may, the decision. */
export function ApprovalNotice({ job, rights }: { job: Job; rights: JobRights | undefined }) {
  const trpc = useTRPC();
  const onSettled = useRefresh(job);
  const approve = useMutation(
    trpc.jobs.approve.mutationOptions({ onSuccess: () => toast.success("Job approved"), onSettled }),
  );
  const reject = useMutation(
    trpc.jobs.reject.mutationOptions({ onSuccess: () => toast.success("Job rejected"), onSettled }),
  );
  const { approval } = job;
  if (!approval) return null;
  const isPending = approve.isPending || reject.isPending;
  return (
    <Notice tone="warn" title="Waiting for a person">
      <p>{approval.message}</p>
      <ApprovalFacts approval={approval} />
      {rights?.whyNotDecide && <p className="mt-2 text-xs text-muted">{rights.whyNotDecide}</p>}
      {(rights?.approve || rights?.reject) && (
        <div className="mt-3 flex flex-wrap gap-2">
          {rights.approve && (
            <Confirm
              title="Approve this job?"
              description={
                <>
                  It is queued and runs. The estimate is {formatUsd(approval.estimatedCost)}; at most{" "}
                  {formatUsd(approval.maximumCost)} may be charged.
                </>
              }
              action="Approve job"
              actionVariant="primary"
              keep="Not yet"
              onConfirm={() => approve.mutate({ job_id: job.jobId })}
            >
              <Button variant="primary" pending={approve.isPending} disabled={isPending}>
                <Check aria-hidden />
                Approve
              </Button>
            </Confirm>
          )}
          {rights.reject && (
            <Confirm
              title="Reject this job?"
              description="It is canceled and cannot be approved afterwards. It may be submitted again."
              action="Reject job"
              keep="Not yet"
              onConfirm={() => reject.mutate({ job_id: job.jobId })}
            >
              <Button pending={reject.isPending} disabled={isPending}>
                <CircleX aria-hidden />
                Reject
              </Button>
            </Confirm>
          )}
        </div>
      )}
    </Notice>
  );
}

function ApprovalFacts({ approval }: { approval: JobApproval }) {
  return (
    <Facts className="mt-2">
      <Fact name="Estimate">{formatUsd(approval.estimatedCost)}</Fact>
      <Fact name="At most">{formatUsd(approval.maximumCost)}</Fact>
      <Fact name="Threshold">{approval.threshold === null ? null : formatUsd(approval.threshold)}</Fact>
      <Fact name="Step">{approval.step}</Fact>
      <Fact name="Decide by">{approval.deadlineAt && <Moment at={approval.deadlineAt} />}</Fact>
      <Fact name="Who may decide">
        {approval.whoMayDecide.differentPersonRequired
          ? "A member other than the person who submitted it"
          : "Any member of the organization"}
      </Fact>
    </Facts>
  );
}

/** Submits what a job was asked once more, where nothing ran and nothing was charged. */
export function RetryJob({
  job,
  rights,
  projectId,
}: {
  job: Job;
  rights: JobRights | undefined;
  projectId: string;
}) {
  const trpc = useTRPC();
  const router = useRouter();
  const retry = useMutation(
    trpc.jobs.retry.mutationOptions({
      onSuccess: (fresh) => {
        toast.success("Submitted again");
        router.push(`/projects/${projectId}/jobs/${fresh.jobId}`);
      },
      onSettled: useRefresh(job),
    }),
  );
  if (!rights?.retry) return null;
  return (
    <Confirm
      title="Run this job again?"
      description="Nothing ran and nothing was charged. A new job with the same request is submitted."
      action="Run again"
      actionVariant="primary"
      keep="Not now"
      onConfirm={() => retry.mutate({ job_id: job.jobId })}
    >
      <Button pending={retry.isPending}>
        <RefreshCw aria-hidden />
        Run again
      </Button>
    </Confirm>
  );
}

/** A job that needs an operator: for everybody what that means, for an operator the ways out. */
export function AttentionNotice({ job, rights }: { job: Job; rights: JobRights | undefined }) {
  const onSettled = useRefresh(job);
  return (
    <Notice tone="warn" title="Needs attention">
      <p>The provider’s result was paid for, but a later step keeps failing. An operator has to decide.</p>
      {rights?.operate && (
        <div className="mt-3">
          <OperatorActions jobId={job.jobId} onSettled={onSettled} />
        </div>
      )}
    </Notice>
  );
}

/** The operator's three ways out of a job that needs attention. */
export function OperatorActions({ jobId, onSettled }: { jobId: string; onSettled: () => Promise<unknown> }) {
  const trpc = useTRPC();
  const retry = useMutation(
    trpc.attention.retry.mutationOptions({
      onSuccess: () => toast.success("The step is done again"),
      onSettled,
    }),
  );
  const accept = useMutation(
    trpc.attention.accept.mutationOptions({ onSuccess: () => toast.success("Accepted as it is"), onSettled }),
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
        title="Do the step again?"
        description="The answer that was paid for is stored again. Nothing is sent to a provider."
        isPending={isPending}
        onConfirm={() => retry.mutate(ask)}
      />
      <Way
        label="Accept"
        title="Accept the job as it is?"
        description="It succeeds with what could be stored. Files that could not be stored are lost."
        isPending={isPending}
        onConfirm={() => accept.mutate(ask)}
      />
      <Way
        label="Fail"
        title="Fail the job?"
        description="It ends as failed. What the provider did is charged."
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
    <Confirm title={title} description={description} action={label} keep="Not now" onConfirm={onConfirm}>
      <Button disabled={isPending}>{label}</Button>
    </Confirm>
  );
}
