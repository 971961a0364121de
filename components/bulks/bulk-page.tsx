"use client";
import { useQueryClient } from "@tanstack/react-query";
import { CircleStop, RefreshCw } from "lucide-react";
import { useRouter } from "next/navigation";
import { useEffect, useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { useLive } from "@/components/blocks/data/use-live";
import { useProject } from "@/components/blocks/data/use-project";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { useConnectionLost } from "@/components/connection/connection";
import { useTRPC } from "@/components/data/trpc";
import { bulkHref, bulksHref } from "@/components/pins/list-state";
import { PageHeader } from "@/components/shell/page-header";
import { formatDuration, msBetween } from "@/components/time/format";
import { Moment, Took } from "@/components/time/moment";
import { Badge } from "@/components/ui/badge";
import { Section } from "@/components/ui/card";
import { CopyableId } from "@/components/ui/copyable-id";
import { Figure, Figures, None } from "@/components/ui/figures";
import Link from "@/components/ui/link";
import { Notice } from "@/components/ui/notice";
import { toast } from "@/components/ui/toaster";
import type { PinnedBulk } from "@/server/contract/pinned";
import { BulkBar, BulkCounts, endedOf } from "./bulk-bar";
import { BulkItems } from "./bulk-items";
import { type ItemState, toBulkQuery } from "./bulk-state";
import { BulkStatusBadge } from "./bulk-status";
import { etaMs, formatRate, rateOf, type Sample, withSample } from "./rate";

const isUnderWay = ({ nextAction }: PinnedBulk) => nextAction === "poll";

type Props = { projectId: string; bulkId: string; state: ItemState };

/** One bulk: progress, rate, time left, and its items. */
export function BulkPage({ projectId, bulkId, state }: Props) {
  const trpc = useTRPC();
  const { data: bulk, dataUpdatedAt } = useLive(
    trpc.pinned.bulk.queryOptions(toBulkQuery(bulkId, state)),
    (read) => (isUnderWay(read) ? Math.max(1, read.pollAfterSeconds) * 1000 : false),
  );
  const samples = useSamples(bulk, dataUpdatedAt);
  useEndRead(bulk);
  return (
    <>
      <BulkHeader bulk={bulk} projectId={projectId} />
      <div className="grid grid-cols-1 gap-5">
        <ProgressCard bulk={bulk} samples={samples} />
        <Notices bulk={bulk} projectId={projectId} />
        <BulkItems bulk={bulk} projectId={projectId} state={state} />
      </div>
    </>
  );
}

/** The readings that the rate is measured from; each response of the server counts once. */
function useSamples(bulk: PinnedBulk, readAt: number): readonly Sample[] {
  const ended = endedOf(bulk);
  const [samples, setSamples] = useState<readonly Sample[]>([]);
  useEffect(() => setSamples((before) => withSample(before, { atMs: readAt, ended })), [readAt, ended]);
  return samples;
}

/** Refreshes the other pages and lists when the bulk ends, since they were loaded while it ran. */
function useEndRead(bulk: PinnedBulk) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const hasEnded = !isUnderWay(bulk);
  const [wasUnderWay] = useState(!hasEnded);
  useEffect(() => {
    if (hasEnded && wasUnderWay) void queryClient.invalidateQueries({ queryKey: trpc.pinned.pathKey() });
  }, [hasEnded, wasUnderWay, queryClient, trpc]);
}

function BulkHeader({ bulk, projectId }: { bulk: PinnedBulk; projectId: string }) {
  const mayWrite = useProject(projectId).may("member");
  return (
    <PageHeader
      back={{ href: bulksHref(projectId), label: "Bulks" }}
      title={bulk.pin.model}
      badge={
        <>
          <BulkStatusBadge status={bulk.status} /> {bulk.processing === "deferred" && <Badge>Deferred</Badge>}
        </>
      }
      id={<CopyableId id={bulk.bulkId} what="bulk id" className="text-muted" />}
      actions={
        mayWrite && (
          <>
            <RetryBulk bulk={bulk} projectId={projectId} />
            <CancelBulk bulk={bulk} />
          </>
        )
      }
    >
      {bulk.pin.provider} · {bulk.pin.api}
    </PageHeader>
  );
}

function ProgressCard({ bulk, samples }: { bulk: PinnedBulk; samples: readonly Sample[] }) {
  const ended = endedOf(bulk);
  const isRunning = isUnderWay(bulk);
  const isLost = useConnectionLost();
  const percent = Math.floor((ended / bulk.itemCount) * 100);
  return (
    <Section
      title="Progress"
      hint={
        <span className="tabular-nums">
          {ended.toLocaleString("en-US")} of {bulk.itemCount.toLocaleString("en-US")} items, {percent}%
        </span>
      }
      actions={isRunning && (isLost ? <Badge tone="warn">Paused</Badge> : <Badge tone="busy">Live</Badge>)}
      aria-busy={isRunning}
      bodyClassName="space-y-4"
    >
      <BulkBar bulk={bulk} />
      <BulkCounts bulk={bulk} />
      <Figures>
        {isRunning ? <LiveFigures bulk={bulk} samples={samples} /> : <EndFigures bulk={bulk} />}
        <Figure name={isRunning ? "Elapsed" : "Duration"}>
          <Took from={bulk.createdAt} to={bulk.completedAt} />
        </Figure>
        <Figure name="Accepted">
          <Moment at={bulk.createdAt} />
        </Figure>
      </Figures>
    </Section>
  );
}

function LiveFigures({ bulk, samples }: { bulk: PinnedBulk; samples: readonly Sample[] }) {
  const rate = rateOf(samples);
  const left = etaMs(bulk.itemCount - endedOf(bulk), rate);
  return (
    <>
      <Figure name="Current rate">
        <span data-testid="rate">{rate === null ? "unknown" : formatRate(rate)}</span>
      </Figure>
      <Figure name="Time left">
        <span data-testid="eta">{left === null ? "unknown" : `about ${formatDuration(left)}`}</span>
      </Figure>
      <Figure name="Concurrency">
        {bulk.currentConcurrency} of {bulk.concurrency}
      </Figure>
    </>
  );
}

/** The figures of a finished bulk. */
function EndFigures({ bulk }: { bulk: PinnedBulk }) {
  const tookMs = msBetween(bulk.createdAt, bulk.completedAt); // measured like the duration shown beside it
  const ran = endedOf(bulk) - bulk.counts.canceled;
  return (
    <>
      <Figure name="Average rate">{tookMs && ran > 0 ? formatRate((ran * 1000) / tookMs) : <None />}</Figure>
      <Figure name="Safe to retry">{bulk.safelyRetryable.toLocaleString("en-US")}</Figure>
      <Figure name="Concurrency">{bulk.concurrency}</Figure>
    </>
  );
}

function Notices({ bulk, projectId }: { bulk: PinnedBulk; projectId: string }) {
  const { ambiguous } = bulk.counts;
  const isSlowed = isUnderWay(bulk) && bulk.currentConcurrency < bulk.concurrency && bulk.startedAt !== null;
  return (
    <>
      {bulk.retryOf && (
        <p className="text-sm text-muted">
          This bulk retries items of{" "}
          <Link
            href={bulkHref(projectId, bulk.retryOf)}
            className="font-mono text-xs text-link hover:underline"
          >
            {bulk.retryOf}
          </Link>
          .
        </p>
      )}
      {isUnderWay(bulk) && bulk.cancelRequestedAt && (
        <Notice tone="busy" title="Canceling">
          The remaining items will not be sent. Items already sent will finish, since they may be charged.
        </Notice>
      )}
      {isSlowed && !bulk.cancelRequestedAt && bulk.counts.queued > 0 && (
        <Notice tone="warn" title="Reduced concurrency">
          The provider is at capacity, so fewer items are sent at once. Concurrency rises again automatically.
        </Notice>
      )}
      {ambiguous > 0 && (
        <Notice tone="warn" title={ambiguous === 1 ? "1 ambiguous item" : `${ambiguous} ambiguous items`}>
          These items were sent but no complete response came back. They may have run and may be charged, so
          they are never retried automatically.
        </Notice>
      )}
    </>
  );
}

const items = (count: number) => (count === 1 ? "1 item" : `${count.toLocaleString("en-US")} items`);

/** Cancels the items that have not been sent, after a confirmation. */
function CancelBulk({ bulk }: { bulk: PinnedBulk }) {
  const trpc = useTRPC();
  const cancel = useAction(trpc.pinned.cancelBulk.mutationOptions(), {
    done: "Cancel requested",
    refresh: [trpc.pinned.pathKey()],
  });
  if (bulk.nextAction === "stop" || bulk.cancelRequestedAt) return null;
  return (
    <ConfirmAction
      icon={CircleStop}
      label="Cancel"
      title="Cancel this bulk?"
      description={`${items(bulk.counts.queued)} not sent yet will be canceled. Items already sent will finish, since they may be charged.`}
      action="Cancel bulk"
      keep="Keep running"
      onConfirm={() => cancel.mutate({ bulk_id: bulk.bulkId })}
      pending={cancel.isPending}
    />
  );
}

/** Retries the items that did not run, as a new bulk. */
function RetryBulk({ bulk, projectId }: { bulk: PinnedBulk; projectId: string }) {
  const trpc = useTRPC();
  const router = useRouter();
  const retry = useAction(trpc.pinned.retryBulk.mutationOptions(), {
    onDone: (fresh) => {
      toast.success("Retry started as a new bulk");
      router.push(bulkHref(projectId, fresh.bulkId));
    },
    refresh: [trpc.pinned.pathKey()],
  });
  const count = bulk.safelyRetryable;
  if (bulk.nextAction === "poll" || count === 0) return null;
  return (
    <ConfirmAction
      icon={RefreshCw}
      label={`Retry ${items(count)}`}
      title={`Retry ${items(count)}?`}
      description="These items did not run, so nothing runs twice. They are sent as a new bulk with the same pin and settings. Items that ran or may have run are left out."
      action="Retry items"
      isHarmless
      onConfirm={() => retry.mutate({ bulk_id: bulk.bulkId })}
      variant="primary"
      pending={retry.isPending}
    />
  );
}
