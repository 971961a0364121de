"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { CircleCheck } from "lucide-react";
import Link from "next/link";
import { formatMoney } from "@/components/billing/format-money";
import { callerName } from "@/components/callers/caller-name";
import { approvalHref } from "@/components/commissions/hrefs";
import { ApprovalDecision } from "@/components/jobs/approval";
import { requestHref } from "@/components/requests/list-state";
import { PageHeader } from "@/components/shell/page-header";
import { Countdown } from "@/components/time/countdown-text";
import { useServerNow } from "@/components/time/server-now";
import { useTRPC } from "@/components/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardBody, CardHeader } from "@/components/ui/card";
import { shortId } from "@/components/ui/copyable-id";
import { EmptyState } from "@/components/ui/empty-state";
import { Fact, Facts } from "@/components/ui/facts";
import type { WaitingCommission, WaitingJob } from "@/server/contract/approvals";

const LOOK_AGAIN_MS = 10_000;

/** The jobs to approve and the commission quotes to pay in a project, soonest deadline first. */
export function ApprovalsRoom({ projectId }: { projectId: string }) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery({
    ...trpc.approvals.list.queryOptions({ project_id: projectId }),
    refetchInterval: LOOK_AGAIN_MS,
  });
  const hidden = data.count - data.items.length;
  return (
    <>
      <PageHeader title="Approvals">Jobs and quotes waiting for your decision.</PageHeader>
      {data.items.length === 0 ? (
        <Card>
          <EmptyState icon={CircleCheck} title="You're all caught up">
            Jobs that need approval and quotes to pay appear here. Choose which jobs need approval in{" "}
            <Link href={`/projects/${projectId}/settings`} className="text-link underline">
              Settings
            </Link>
            .
          </EmptyState>
        </Card>
      ) : (
        <ul aria-label="Approvals, soonest deadline first" className="max-w-3xl space-y-4">
          {data.items.map((item) =>
            item.kind === "job" ? (
              <li key={item.jobId}>
                <JobCard projectId={projectId} item={item} now={data.now} />
              </li>
            ) : (
              <li key={item.quote.quoteId}>
                <CommissionCard projectId={projectId} item={item} now={data.now} />
              </li>
            ),
          )}
        </ul>
      )}
      {hidden > 0 && (
        <p className="mt-4 max-w-3xl text-sm text-muted">
          {hidden === 1 ? "1 more is" : `${hidden.toLocaleString("en-US")} more are`} waiting. Decide on these
          first to see {hidden === 1 ? "it" : "them"}.
        </p>
      )}
    </>
  );
}

function JobCard({ projectId, item, now }: { projectId: string; item: WaitingJob; now: string }) {
  const title = `approval-${item.jobId}`;
  return (
    <Card aria-labelledby={title}>
      <CardHeader
        id={title}
        title={
          <Link href={`/projects/${projectId}/jobs/${item.jobId}`} className="hover:underline">
            {item.capabilityKey}
          </Link>
        }
        hint={<code>{shortId(item.jobId)}</code>}
        actions={<Badge>Job</Badge>}
      />
      <CardBody className="space-y-2 text-sm">
        <Facts>
          <Fact name="Requested by">{callerName(item.askedBy)}</Fact>
          <Fact name="Due">
            {item.approval.deadlineAt && <Due until={item.approval.deadlineAt} now={now} />}
          </Fact>
        </Facts>
        <ApprovalDecision jobId={item.jobId} approval={item.approval} rights={item.rights} />
      </CardBody>
    </Card>
  );
}

function CommissionCard({
  projectId,
  item: { quote, summary, askedBy, mayPay },
  now,
}: {
  projectId: string;
  item: WaitingCommission;
  now: string;
}) {
  const title = `approval-${quote.quoteId}`;
  return (
    <Card aria-labelledby={title}>
      <CardHeader
        id={title}
        title={
          <Link
            href={requestHref(projectId, quote.requestId)}
            dir="auto"
            className="[overflow-wrap:anywhere] hover:underline"
          >
            {summary}
          </Link>
        }
        actions={<Badge>Commission</Badge>}
      />
      <CardBody className="space-y-3 text-sm">
        <p>An operator quoted a price for this request. The work starts when a person pays.</p>
        <Facts>
          <Fact name="Price">
            <span className="font-semibold">{formatMoney(quote.commissionPrice)}</span>{" "}
            <span className="text-muted">before tax, paid once</span>
          </Fact>
          <Fact name="Requested by">{callerName(askedBy)}</Fact>
          <Fact name="Expires">
            <Due until={quote.expiresAt} now={now} />
          </Fact>
        </Facts>
        <Button asChild variant={mayPay ? "primary" : "secondary"}>
          <Link href={approvalHref(quote.quoteId)}>{mayPay ? "Review and pay" : "Open quote"}</Link>
        </Button>
      </CardBody>
    </Card>
  );
}

function Due({ until, now }: { until: string; now: string }) {
  return <Countdown until={until} nowMs={useServerNow(now, until)} over="now" />;
}
