"use client";
import { useQueryClient } from "@tanstack/react-query";
import { Check, CircleX } from "lucide-react";
import { toast } from "sonner";
import { Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import { Button } from "@/components/ui/button";
import { Fact, Facts } from "@/components/ui/facts";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";
import type { JobApproval, JobRights } from "@/server/contract/jobs";
import { eventsKey } from "./events-key";
import { formatUsd } from "./format-usd";

type Decision = Pick<JobRights, "approve" | "reject" | "whyNotDecide">;
type Props = { jobId: string; approval: JobApproval; rights: Decision | undefined };

/** The approval notice on a job's page. */
export function ApprovalNotice(props: Props) {
  return (
    <Notice tone="warn" title="Waiting for approval">
      <ApprovalDecision {...props} />
    </Notice>
  );
}

/** Why a job waits for approval, with the decision for those who may make it. */
export function ApprovalDecision({ jobId, approval, rights }: Props) {
  const trpc = useTRPC();
  const onSettled = useRefresh(jobId);
  const approve = useMutation(
    trpc.jobs.approve.mutationOptions({ onSuccess: () => toast.success("Job approved"), onSettled }),
  );
  const reject = useMutation(
    trpc.jobs.reject.mutationOptions({ onSuccess: () => toast.success("Job rejected"), onSettled }),
  );
  const isPending = approve.isPending || reject.isPending;
  return (
    <>
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
                  The job is queued and runs. The estimate is {formatUsd(approval.estimatedCost)}, and at most{" "}
                  {formatUsd(approval.maximumCost)} is charged.
                </>
              }
              action="Approve job"
              actionVariant="primary"
              onConfirm={() => approve.mutate({ job_id: jobId })}
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
              description="The job is canceled and can no longer be approved. You can submit it again."
              action="Reject job"
              onConfirm={() => reject.mutate({ job_id: jobId })}
            >
              <Button pending={reject.isPending} disabled={isPending}>
                <CircleX aria-hidden />
                Reject
              </Button>
            </Confirm>
          )}
        </div>
      )}
    </>
  );
}

function ApprovalFacts({ approval }: { approval: JobApproval }) {
  return (
    <Facts className="mt-2">
      <Fact name="Estimate">{formatUsd(approval.estimatedCost)}</Fact>
      <Fact name="Maximum charge">{formatUsd(approval.maximumCost)}</Fact>
      <Fact name="Threshold">{approval.threshold === null ? null : formatUsd(approval.threshold)}</Fact>
      <Fact name="Step">{approval.step}</Fact>
      <Fact name="Due">{approval.deadlineAt && <Moment at={approval.deadlineAt} />}</Fact>
      <Fact name="Approvers">
        {approval.whoMayDecide.differentPersonRequired
          ? "A member other than the submitter"
          : "Any member of the organization"}
      </Fact>
    </Facts>
  );
}

/** After a decision, fetches the job, its lists and its events again. */
export function useRefresh(jobId: string) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  return () =>
    Promise.all([
      queryClient.invalidateQueries({ queryKey: trpc.jobs.pathKey() }),
      queryClient.invalidateQueries({ queryKey: trpc.approvals.pathKey() }),
      queryClient.invalidateQueries({ queryKey: eventsKey(jobId) }),
    ]);
}
