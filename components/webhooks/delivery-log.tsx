"use client";
import { useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { RotateCcw, SearchX, Send } from "lucide-react";
import Link from "next/link";
import { type ReactNode, useState } from "react";
import { toast } from "sonner";
import { formatDuration } from "@/components/time/format";
import { Ago, Moment } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import { CodeBlock } from "@/components/ui/code-block";
import { CopyableId, shortId } from "@/components/ui/copyable-id";
import { Dialog, DialogContent, DialogTrigger } from "@/components/ui/dialog";
import { EmptyState } from "@/components/ui/empty-state";
import { Fact, Facts } from "@/components/ui/facts";
import { JsonView } from "@/components/ui/json-view";
import { Pagination } from "@/components/ui/pagination";
import { FIRST_PAGE } from "@/components/ui/paging";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { Skeleton } from "@/components/ui/skeleton";
import { Table, TableCell, TableHead, TableRow } from "@/components/ui/table";
import { useAddress } from "@/components/ui/use-address";
import { useMutation } from "@/components/use-mutation";
import { type Delivery, type DeliveryDetail, DeliveryState } from "@/server/contract/webhooks";
import { DELIVERY_LOOK, DeliveryStateBadge } from "./delivery-state";
import { type LogState, logHref, toDeliveriesQuery } from "./list-state";

const LIVE_MS = 2000;
const IDLE_MS = 15_000;
const ANY = "any"; // a select cannot hold an empty value

const isUnderWay = ({ state }: Delivery) => state === "pending" || state === "delivering";

type Props = { projectId: string; state: LogState };

/** A project's webhook deliveries, newest first, with details and replay. */
export function DeliveryLog({ projectId, state }: Props) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery({
    ...trpc.webhooks.deliveries.queryOptions(toDeliveriesQuery(projectId, state)),
    refetchInterval: (query) => (query.state.data?.items.some(isUnderWay) ? LIVE_MS : IDLE_MS),
  });
  const { data: endpoints } = useSuspenseQuery(
    trpc.webhooks.endpoints.queryOptions({ project_id: projectId }),
  );
  const { data: projects } = useSuspenseQuery(trpc.projects.list.queryOptions());
  const role = projects.find((each) => each.projectId === projectId)?.role;
  const urlOf = new Map(endpoints.map((endpoint) => [endpoint.endpointId, endpoint.url]));
  const isFiltered = Boolean(state.state || state.endpoint || state.cursor);
  if (endpoints.length === 0 && data.items.length === 0 && !isFiltered) return null;

  return (
    <section aria-labelledby="log-title" className="mt-8">
      <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
        <h2 id="log-title" className="flex-1 text-lg font-semibold">
          Deliveries
        </h2>
        <LogFilters projectId={projectId} state={state} urlOf={urlOf} />
      </div>
      <Card className="overflow-hidden">
        {data.items.length === 0 ? (
          <EmptyState
            icon={isFiltered ? SearchX : Send}
            title={isFiltered ? "No matching deliveries" : "No deliveries yet"}
            action={
              isFiltered && (
                <Button asChild>
                  <Link href={logHref(projectId, {})}>Show all deliveries</Link>
                </Button>
              )
            }
          >
            {isFiltered ? "Remove a filter or show all deliveries." : "Deliveries of new events appear here."}
          </EmptyState>
        ) : (
          <DeliveryTable
            items={data.items}
            urlOf={urlOf}
            canReplay={role !== undefined && role !== "viewer"}
          />
        )}
      </Card>
      <Pagination
        label="Pages of deliveries"
        state={state}
        nextCursor={data.nextCursor}
        hrefOf={(page) => logHref(projectId, page)}
        className="mt-4"
      />
    </section>
  );
}

function LogFilters({ projectId, state, urlOf }: Props & { urlOf: ReadonlyMap<string, string> }) {
  const { wanted, isPending, show } = useAddress(state, (next) => logHref(projectId, next));
  const pick = (name: "state" | "endpoint") => (value: string) =>
    show({ ...wanted, ...FIRST_PAGE, [name]: value === ANY ? undefined : value });
  return (
    <search
      aria-label="Filter deliveries"
      aria-busy={isPending}
      className={cn("flex min-w-0 flex-wrap gap-2 transition-opacity", isPending && "opacity-60")}
    >
      <Select value={wanted.state ?? ANY} onValueChange={pick("state")}>
        <SelectTrigger aria-label="Status" className="h-8 w-auto min-w-32 text-sm" />
        <SelectContent>
          <SelectItem value={ANY}>Any status</SelectItem>
          {DeliveryState.options.map((each) => (
            <SelectItem key={each} value={each}>
              {DELIVERY_LOOK[each].label}
            </SelectItem>
          ))}
        </SelectContent>
      </Select>
      {urlOf.size > 1 && (
        <Select value={wanted.endpoint ?? ANY} onValueChange={pick("endpoint")}>
          <SelectTrigger aria-label="Endpoint" className="h-8 w-56 text-sm" />
          <SelectContent>
            <SelectItem value={ANY}>Any endpoint</SelectItem>
            {[...urlOf].map(([id, url]) => (
              <SelectItem key={id} value={id} className="max-w-96 [overflow-wrap:anywhere]">
                {url}
              </SelectItem>
            ))}
          </SelectContent>
        </Select>
      )}
    </search>
  );
}

type Lines = { items: Delivery[]; urlOf: ReadonlyMap<string, string>; canReplay: boolean };

function DeliveryTable({ items, urlOf, canReplay }: Lines) {
  const opener = (delivery: Delivery, children: ReactNode) => (
    <DeliveryDialog delivery={delivery} url={urlOf.get(delivery.endpointId)} canReplay={canReplay}>
      {children}
    </DeliveryDialog>
  );
  const link = (delivery: Delivery) =>
    opener(
      delivery,
      <button
        type="button"
        className="rounded font-mono text-xs text-link after:absolute after:inset-0 hover:underline"
        title={delivery.eventId}
        aria-label={`Delivery of ${delivery.type}, ${delivery.eventId}`}
      >
        {delivery.type}
      </button>,
    );
  return (
    <>
      <div className="hidden md:block">
        <Table>
          <caption className="sr-only">Deliveries, newest first</caption>
          <thead>
            <tr>
              <TableHead className="w-36">Status</TableHead>
              <TableHead>Event</TableHead>
              <TableHead>Job</TableHead>
              <TableHead>Endpoint</TableHead>
              <TableHead>Last response</TableHead>
              <TableHead className="text-right">Attempts</TableHead>
              <TableHead className="text-right">Created</TableHead>
            </tr>
          </thead>
          <tbody>
            {items.map((delivery) => (
              <TableRow key={delivery.deliveryId} className="relative" data-delivery={delivery.eventId}>
                <TableCell>
                  <DeliveryStateBadge state={delivery.state} />
                </TableCell>
                <TableCell>{link(delivery)}</TableCell>
                <TableCell className="font-mono text-xs text-muted">
                  {delivery.jobId && shortId(delivery.jobId)}
                </TableCell>
                <TableCell className="max-w-48 truncate text-muted">
                  {urlOf.get(delivery.endpointId)}
                </TableCell>
                <TableCell className="text-xs">
                  <LastAnswer delivery={delivery} />
                </TableCell>
                <TableCell className="text-right text-muted">{delivery.attempts}</TableCell>
                <TableCell className="text-right text-muted">
                  <Ago at={delivery.createdAt} />
                </TableCell>
              </TableRow>
            ))}
          </tbody>
        </Table>
      </div>
      <ul aria-label="Deliveries, newest first" className="divide-y divide-line md:hidden">
        {items.map((delivery) => (
          <li key={delivery.deliveryId} className="relative space-y-1.5 px-4 py-3">
            <div className="flex items-center justify-between gap-2">
              <DeliveryStateBadge state={delivery.state} />
              <span className="text-xs text-muted">
                <Ago at={delivery.createdAt} />
              </span>
            </div>
            {link(delivery)}
            <div className="flex flex-wrap gap-x-3 text-xs text-muted">
              <span>{delivery.attempts === 1 ? "1 attempt" : `${delivery.attempts} attempts`}</span>
              <LastAnswer delivery={delivery} />
            </div>
          </li>
        ))}
      </ul>
    </>
  );
}

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

function DeliveryDialog({
  delivery,
  url,
  canReplay,
  children,
}: {
  delivery: Delivery;
  url: string | undefined;
  canReplay: boolean;
  children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Dialog open={isOpen} onOpenChange={setOpen}>
      <DialogTrigger asChild>{children}</DialogTrigger>
      {isOpen && (
        <DialogContent
          className="max-w-2xl"
          title={<span className="font-mono text-base">{delivery.type}</span>}
          description={url && <span className="[overflow-wrap:anywhere]">{url}</span>}
        >
          <DeliveryView listed={delivery} canReplay={canReplay} />
        </DialogContent>
      )}
    </Dialog>
  );
}

function DeliveryView({ listed, canReplay }: { listed: Delivery; canReplay: boolean }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const { data, error } = useQuery({
    ...trpc.webhooks.delivery.queryOptions({ delivery_id: listed.deliveryId }),
    refetchInterval: (query) => (query.state.data && isUnderWay(query.state.data) ? LIVE_MS : false),
  });
  const replay = useMutation(
    trpc.webhooks.replay.mutationOptions({
      onSuccess: () => toast.success("Delivery replayed"),
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.webhooks.pathKey() }),
    }),
  );
  if (error)
    return <p className="text-sm text-bad">Could not load this delivery. Reload the page to try again.</p>;
  if (!data) return <Skeleton className="h-64 w-full" />;
  return (
    <div className="space-y-4">
      <Facts>
        <Fact name="Status">
          <DeliveryStateBadge state={data.state} />
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
