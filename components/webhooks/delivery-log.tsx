"use client";
import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Ban, CircleCheck, CircleX, Clock, LoaderCircle, RotateCcw, RotateCw, Send } from "lucide-react";
import { useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { soonWhile, useLive } from "@/components/blocks/data/use-live";
import { useProject } from "@/components/blocks/data/use-project";
import { FilterBar } from "@/components/blocks/list/filter-bar";
import { ListCard } from "@/components/blocks/list/list-card";
import { ResourceTable, type TableColumn } from "@/components/blocks/list/resource-table";
import { defineStatus, LookBadge } from "@/components/blocks/status/status";
import { WORK_COLUMN, WorkCell } from "@/components/blocks/work/work";
import { useTRPC } from "@/components/data/trpc";
import { formatDuration } from "@/components/time/format";
import { Ago, Moment } from "@/components/time/moment";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { CodeBlock } from "@/components/ui/code-block";
import { CopyableId, shortId } from "@/components/ui/copyable-id";
import { Dialog, DialogContent } from "@/components/ui/dialog";
import { EmptyState } from "@/components/ui/empty-state";
import { Fact, Facts } from "@/components/ui/facts";
import { JsonView } from "@/components/ui/json-view";
import Link from "@/components/ui/link";
import { Skeleton } from "@/components/ui/skeleton";
import { wordsOfCode } from "@/components/ui/wording";
import type { Delivery, DeliveryDetail, DeliveryState } from "@/server/contract/webhooks";
import type { OfWork } from "@/server/contract/work";
import { hasFilter, type LogState, logHref, toDeliveriesQuery } from "./list-state";

const LIVE_MS = 2000;

const isUnderWay = ({ state }: Delivery) => state === "pending" || state === "delivering";

type Props = { projectId: string; state: LogState };

/** A project's webhook deliveries, newest first, with details and replay. */
export function DeliveryLog({ projectId, state }: Props) {
  const trpc = useTRPC();
  const { data } = useLive(
    trpc.webhooks.deliveries.queryOptions(toDeliveriesQuery(projectId, state)),
    soonWhile(({ items }) => items.some(isUnderWay)),
  );
  const { data: endpoints } = useSuspenseQuery(
    trpc.webhooks.endpoints.queryOptions({ project_id: projectId }),
  );
  const { may } = useProject(projectId);
  /** The delivery whose details are open. It is kept here and not in its row, because a refresh may remove the row. */
  const [opened, setOpened] = useState<Delivery | null>(null);
  const urlOf = new Map(endpoints.map((endpoint) => [endpoint.endpointId, endpoint.url]));
  const urls = endpoints.map(({ endpointId, url }) => ({ value: endpointId, label: url }));
  const hrefOf = (next: LogState) => logHref(projectId, next);
  const isFirst = data.items.length === 0 && !hasFilter(state) && !state.cursor;
  if (endpoints.length === 0 && isFirst) return null;

  return (
    <section aria-labelledby="log-title" className="mt-8">
      <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
        <h2 id="log-title" className="flex-1 text-lg font-semibold">
          Deliveries
        </h2>
        <FilterBar
          label="Filter deliveries"
          state={state}
          hrefOf={hrefOf}
          fields={[
            { name: "state", label: "Status", any: "Any status", options },
            ...(endpoints.length > 1
              ? [{ name: "endpoint", label: "Endpoint", any: "Any endpoint", options: urls } as const]
              : []),
          ]}
        />
      </div>
      <ListCard
        noun="deliveries"
        page={data}
        state={state}
        hrefOf={hrefOf}
        allHref={hrefOf({})}
        isFiltered={hasFilter(state)}
        first={
          <EmptyState icon={Send} title="No deliveries yet">
            Deliveries of new events appear here.
          </EmptyState>
        }
      >
        <ResourceTable
          label="Deliveries, newest first"
          rows={data.items}
          idOf={({ deliveryId }) => deliveryId}
          marks={({ eventId }) => ({ "data-delivery": eventId })}
          columns={columnsOf(urlOf, setOpened)}
        />
      </ListCard>
      <Dialog open={opened !== null} onOpenChange={() => setOpened(null)}>
        {opened && (
          <DialogContent
            className="max-w-2xl"
            title={<span className="font-mono text-base">{opened.type}</span>}
            description={urlOf.get(opened.endpointId)}
          >
            <DeliveryView listed={opened} canReplay={may("member")} />
          </DialogContent>
        )}
      </Dialog>
    </section>
  );
}

const columnsOf = (
  urlOf: ReadonlyMap<string, string>,
  open: (delivery: Delivery) => void,
): TableColumn<OfWork<Delivery>>[] => [
  {
    header: "Event",
    card: "title",
    className: WORK_COLUMN,
    cell: (delivery) => (
      <WorkCell work={delivery.work} otherwise={delivery.work?.capabilityKey ?? wordsOfCode(delivery.type)}>
        <button
          type="button"
          className="rounded font-mono text-xs text-link after:absolute after:inset-0 hover:underline"
          title={delivery.eventId}
          aria-label={`Delivery of ${delivery.type}, ${delivery.eventId}`}
          onClick={() => open(delivery)}
        >
          {delivery.type}
        </button>
        {delivery.jobId && <span className="font-mono @max-2xl:hidden">{shortId(delivery.jobId)}</span>}
      </WorkCell>
    ),
  },
  { header: "Status", card: "status", cell: (delivery) => <DeliveryStateBadge {...delivery} /> },
  {
    header: "Endpoint",
    card: "hidden",
    className: "max-w-48 truncate text-muted",
    cell: ({ endpointId }) => urlOf.get(endpointId),
  },
  { header: "Last response", className: "text-xs", cell: (delivery) => <LastAnswer delivery={delivery} /> },
  {
    header: "Attempts",
    align: "end",
    card: "fact",
    className: "text-muted",
    cell: ({ attempts }) => attempts,
  },
  {
    header: "Created",
    align: "end",
    className: "text-muted",
    cell: ({ createdAt }) => <Ago at={createdAt} />,
  },
];

function LastAnswer({ delivery }: { delivery: Delivery }) {
  if (delivery.lastError) {
    return (
      <span
        className={cn("[overflow-wrap:anywhere]", delivery.state === "failed" ? "text-bad" : "text-warn")}
      >
        {delivery.lastStatus ? `HTTP ${delivery.lastStatus}` : delivery.lastError}
      </span>
    );
  }
  return delivery.lastStatus ? <span className="text-muted">HTTP {delivery.lastStatus}</span> : null;
}

function DeliveryView({ listed, canReplay }: { listed: Delivery; canReplay: boolean }) {
  const trpc = useTRPC();
  const { data, error } = useQuery({
    ...trpc.webhooks.delivery.queryOptions({ delivery_id: listed.deliveryId }),
    refetchInterval: (query) => (query.state.data && isUnderWay(query.state.data) ? LIVE_MS : false),
  });
  const replay = useAction(trpc.webhooks.replay.mutationOptions(), {
    done: "Delivery replayed",
    refresh: [trpc.webhooks.pathKey()],
  });
  if (error)
    return <p className="text-sm text-bad">Could not load this delivery. Reload the page to try again.</p>;
  if (!data) return <Skeleton className="h-64 w-full" />;
  return (
    <div className="space-y-4">
      <Facts>
        <Fact name="Status">
          <DeliveryStateBadge {...data} />
        </Fact>
        <Fact name="Event">
          <CopyableId id={data.eventId} what="event id" />
        </Fact>
        {data.jobId && (
          <Fact name="Job">
            <Link href={`/jobs/${data.jobId}`} className="font-mono text-xs text-link hover:underline">
              {data.jobId}
            </Link>
          </Fact>
        )}
        <Fact name="Next attempt">
          {data.nextAttemptAt && isUnderWay(data) ? <Moment at={data.nextAttemptAt} /> : null}
        </Fact>
      </Facts>
      <Tries delivery={data} />
      <div>
        <h3 className="mb-1.5 text-sm font-medium">Body</h3>
        <Body body={data.body} />
      </div>
      {canReplay && data.body !== null && (
        <div className="flex justify-end">
          <Button
            variant="primary"
            pending={replay.isPending}
            disabled={data.state === "delivering"}
            onClick={() => replay.mutate({ delivery_id: data.deliveryId })}
          >
            <RotateCcw aria-hidden />
            Replay
          </Button>
        </div>
      )}
    </div>
  );
}

function Tries({ delivery }: { delivery: DeliveryDetail }) {
  if (delivery.tries.length === 0) return <p className="text-sm text-muted">No attempts yet.</p>;
  return (
    <div>
      <h3 className="mb-1.5 text-sm font-medium">Attempts</h3>
      <ol className="max-h-48 space-y-1 overflow-y-auto text-xs" aria-label="Attempts, newest first">
        {delivery.tries.map((made) => (
          <li key={made.number} className="flex flex-wrap gap-x-3 gap-y-0.5">
            <span className="w-6 text-muted tabular-nums">{made.number}.</span>
            <Moment at={made.startedAt} />
            <span className={cn("flex-1 [overflow-wrap:anywhere]", made.error && "text-bad")}>
              {made.error ?? `HTTP ${made.httpStatus}`}
            </span>
            <span className="text-muted tabular-nums">{formatDuration(made.durationMs)}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

function Body({ body }: { body: string | null }) {
  if (body === null) return <p className="text-sm text-muted">The body is no longer stored.</p>;
  try {
    return <JsonView value={JSON.parse(body)} what="Body" className="max-h-72" />;
  } catch {
    return <CodeBlock code={body} what="Body" />; // our bodies are JSON; any other body is shown as text
  }
}

const { StatusBadge, options } = defineStatus<DeliveryState>({
  pending: { label: "Pending", icon: Clock },
  delivering: { label: "Delivering", icon: LoaderCircle, tone: "busy", isSpinning: true },
  succeeded: { label: "Succeeded", icon: CircleCheck, tone: "good" },
  failed: { label: "Failed", icon: CircleX, tone: "bad" },
  disabled: { label: "Disabled", icon: Ban },
});

/** The badge of a delivery. One that waits for a retry differs from one that waits for its first attempt. */
function DeliveryStateBadge({ state, attempts }: Pick<Delivery, "state" | "attempts">) {
  if (state === "pending" && attempts > 0)
    return <LookBadge data-status={state} look={{ label: "Retrying", icon: RotateCw, tone: "warn" }} />;
  return <StatusBadge status={state} />;
}
