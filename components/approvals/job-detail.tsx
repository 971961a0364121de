"use client";
import { useQuery } from "@tanstack/react-query";
import { Check, X } from "lucide-react";
import { TestMoneyBadge } from "@/components/billing/test-money";
import { wholeDollars } from "@/components/blocks/money/money";
import { workTitle } from "@/components/blocks/work/work";
import { callerName } from "@/components/callers/caller-name";
import { useTRPC } from "@/components/data/trpc";
import { ApprovalFacts } from "@/components/jobs/approval";
import { ArtifactGallery } from "@/components/jobs/artifact-gallery";
import { JobInput } from "@/components/jobs/job-content";
import { Button } from "@/components/ui/button";
import { Card, CardBody } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable-id";
import { Fact } from "@/components/ui/facts";
import Link from "@/components/ui/link";
import { Skeleton } from "@/components/ui/skeleton";
import type { WaitingJob } from "@/server/contract/approvals";
import { Due } from "./due";
import type { Decision } from "./use-decisions";

/**
 * A job that waits for approval, with all facts for the decision: the request, its inputs and views, the model, the price and
 * the caller.
 */
export function JobDetail({
  projectId,
  item,
  now,
  onDecide,
}: {
  projectId: string;
  item: WaitingJob;
  now: string;
  onDecide(decision: Decision): void;
}) {
  const trpc = useTRPC();
  const { approval, rights } = item;
  const { data: job } = useQuery(trpc.jobs.get.queryOptions({ job_id: item.jobId }));
  const { data: cost } = useQuery(
    trpc.usage.cost.queryOptions({ job_id: item.jobId, status: "awaiting_approval" }),
  );
  return (
    <>
      <Card>
        <CardBody className="space-y-4">
          <div>
            <h2 dir="auto" className="text-xl font-semibold [overflow-wrap:anywhere]">
              {workTitle(item.work) ?? item.capabilityKey}
            </h2>
            <p className="flex flex-wrap items-center gap-x-2 text-xs text-muted">
              <Link
                href={`/projects/${projectId}/jobs/${item.jobId}`}
                className="rounded text-link hover:underline"
              >
                {item.capabilityKey}
              </Link>
              <CopyableId id={item.jobId} what="job id" short />
            </p>
          </div>
          <div>
            <p className="flex flex-wrap items-baseline gap-x-2">
              <span className="text-3xl font-semibold tabular-nums">
                {wholeDollars(approval.maximumCost)}
              </span>
              <span className="text-sm text-muted">at most</span>
              {cost?.test && <TestMoneyBadge />}
            </p>
            <p className="text-sm text-muted">{approval.message}</p>
          </div>
          <ApprovalFacts
            approval={approval}
            due={approval.deadlineAt && <Due until={approval.deadlineAt} now={now} />}
          >
            <Fact name="Model">{job?.diagnostics && <code>{job.diagnostics.backendId}</code>}</Fact>
            <Fact name="Requested by">{callerName(item.askedBy)}</Fact>
          </ApprovalFacts>
        </CardBody>
      </Card>
      {job ? (
        <>
          <ArtifactGallery job={job} />
          <JobInput job={job} />
        </>
      ) : (
        <Card aria-busy>
          <CardBody className="space-y-2">
            <Skeleton className="h-5 w-4/5" />
            <Skeleton className="h-5 w-3/5" />
          </CardBody>
        </Card>
      )}
      <div className="sticky bottom-0 z-10 -mx-1 flex min-h-14 flex-wrap items-center gap-2 border-t border-line bg-canvas px-1 py-2.5">
        {rights.approve && (
          <Button variant="primary" onClick={() => onDecide("approve")} aria-keyshortcuts="A">
            <Check aria-hidden />
            Approve
            <Key>A</Key>
          </Button>
        )}
        {rights.reject && (
          <Button onClick={() => onDecide("reject")} aria-keyshortcuts="R">
            <X aria-hidden />
            Reject
            <Key>R</Key>
          </Button>
        )}
        <p className="text-xs text-muted">
          {rights.whyNotDecide ?? "A decision is sent after 6 seconds. Until then you can undo it."}
        </p>
      </div>
    </>
  );
}

/** The shortcut for an action; assistive technology reads it from `aria-keyshortcuts`. */
function Key({ children }: { children: string }) {
  return (
    <span aria-hidden className="rounded border border-current/30 px-1 text-2xs opacity-80 max-lg:hidden">
      {children}
    </span>
  );
}
