"use client";
import { Check, CircleX } from "lucide-react";
import type { ReactNode } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { wholeDollars } from "@/components/blocks/money/money";
import { useTRPC } from "@/components/data/trpc";
import { Moment } from "@/components/time/moment";
import { Fact, Facts } from "@/components/ui/facts";
import { Notice } from "@/components/ui/notice";
import type { JobApproval, JobRights } from "@/server/contract/jobs";
import { eventsKey } from "./events-key";

type Props = { jobId: string; approval: JobApproval; rights: JobRights | undefined };

/** The reason why a job waits for approval, with the decision for those who may make it; shown on the job's page. */
export function ApprovalNotice({ jobId, approval, rights }: Props) {
  const trpc = useTRPC();
  const refresh = useShownJobs(jobId);
  const approve = useAction(trpc.jobs.approve.mutationOptions(), { refresh, done: "Job approved" });
  const reject = useAction(trpc.jobs.reject.mutationOptions(), { refresh, done: "Job rejected" });
  const isPending = approve.isPending || reject.isPending;
  return (
    <Notice tone="warn" title="Waiting for approval">
      <p>{approval.message}</p>
      <ApprovalFacts approval={approval}>
        <Fact name="Maximum charge">{wholeDollars(approval.maximumCost)}</Fact>
      </ApprovalFacts>
      {rights?.whyNotDecide && <p className="mt-2 text-xs text-muted">{rights.whyNotDecide}</p>}
      {(rights?.approve || rights?.reject) && (
        <div className="mt-3 flex flex-wrap gap-2">
          {rights.approve && (
            <ConfirmAction
              icon={Check}
              label="Approve"
              title="Approve this job?"
              description={
                <>
                  The job is queued and runs. The estimate is {wholeDollars(approval.estimatedCost)}, and at
                  most {wholeDollars(approval.maximumCost)} is charged.
                </>
              }
              action="Approve job"
              isHarmless
              onConfirm={() => approve.mutate({ job_id: jobId })}
              variant="primary"
              pending={approve.isPending}
              disabled={isPending}
            />
          )}
          {rights.reject && (
            <ConfirmAction
              icon={CircleX}
              label="Reject"
              title="Reject this job?"
              description="The job is canceled and can no longer be approved. You can submit it again."
              action="Reject job"
              onConfirm={() => reject.mutate({ job_id: jobId })}
              pending={reject.isPending}
              disabled={isPending}
            />
          )}
        </div>
      )}
    </Notice>
  );
}

/** The facts for a decision; `children` adds more. */
export function ApprovalFacts({
  approval,
  due,
  children,
}: {
  approval: JobApproval;
  due?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <Facts className="mt-2">
      <Fact name="Estimate">{wholeDollars(approval.estimatedCost)}</Fact>
      <Fact name="Threshold">{approval.threshold === null ? null : wholeDollars(approval.threshold)}</Fact>
      {children}
      <Fact name="Step">{approval.step}</Fact>
      <Fact name="Due">{due ?? (approval.deadlineAt && <Moment at={approval.deadlineAt} />)}</Fact>
      <Fact name="Approvers">
        {approval.whoMayDecide.differentPersonRequired
          ? "A member other than the submitter"
          : "Any member of the organization"}
      </Fact>
    </Facts>
  );
}

/** The queries that a decision may change: the job, its lists and its events. */
export function useShownJobs(jobId: string) {
  const trpc = useTRPC();
  return [trpc.jobs.pathKey(), trpc.approvals.pathKey(), eventsKey(jobId)];
}
