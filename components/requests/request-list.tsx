"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { ChevronRight, Plus, SearchX } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { useTransition } from "react";
import { formatMoney } from "@/components/billing/format-money";
import { PageHeader } from "@/components/shell/page-header";
import { Ago } from "@/components/time/moment";
import { useRole, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { shortId } from "@/components/ui/copyable-id";
import { EmptyState } from "@/components/ui/empty-state";
import { EndOfList, Pagination } from "@/components/ui/pagination";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { RequestStatus } from "@/server/contract/requests";
import { FirstRequest } from "./first-request";
import { type ListState, newRequestHref, requestHref, requestsHref, toRequestsQuery } from "./list-state";
import { REQUEST_LOOK, RequestStatusBadge } from "./request-status";

const ANY = "any"; // a select cannot hold an empty value
const LOOK_AGAIN_MS = 15_000;

/** A project's capability requests, newest first. */
export function RequestList({
  projectId,
  state,
  baseUrl,
}: {
  projectId: string;
  state: ListState;
  /** The API's base URL, for the example in an empty project. */
  baseUrl: string;
}) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery({
    ...trpc.requests.list.queryOptions(toRequestsQuery(projectId, state)),
    refetchInterval: LOOK_AGAIN_MS,
  });
  const { mayWrite } = useRole(projectId);
  const isEmpty = data.items.length === 0 && !state.cursor;
  const write = mayWrite && (
    <Button asChild variant="primary">
      <Link href={newRequestHref(projectId)}>
        <Plus aria-hidden />
        Write request
      </Link>
    </Button>
  );
  return (
    <>
      <PageHeader title="Requests" actions={!(isEmpty && !state.status) && write}>
        Capabilities you've requested, with price and status.
      </PageHeader>
      {!(isEmpty && !state.status) && <StatusFilter projectId={projectId} state={state} />}
      <div className="space-y-4">
        <Card className="overflow-hidden">
          {isEmpty && state.status && (
            <EmptyState
              icon={SearchX}
              title="No matching requests"
              action={
                <Button asChild>
                  <Link href={requestsHref(projectId)}>Show all requests</Link>
                </Button>
              }
            />
          )}
          {isEmpty && !state.status && (
            <FirstRequest baseUrl={baseUrl} projectId={projectId} action={write} />
          )}
          {!isEmpty && (
            <ul aria-label="Requests, newest first" className="divide-y divide-line">
              {data.items.map((request) => (
                <li key={request.id} className="relative flex items-center gap-4 px-4 py-3 hover:bg-hover/60">
                  <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-5 gap-y-1.5">
                    <div className="min-w-0 flex-1 basis-72 max-sm:basis-full">
                      <Link
                        href={requestHref(projectId, request.id)}
                        dir="auto"
                        className="block truncate rounded text-left text-sm font-medium after:absolute after:inset-0 hover:underline"
                      >
                        {request.summary}
                      </Link>
                      <code className="block truncate text-xs text-muted" title={request.id}>
                        {shortId(request.id)} · revision {request.revisionNumber}
                      </code>
                    </div>
                    <RequestStatusBadge status={request.status} refund={request.refund} />
                    <span className="min-w-24 text-sm tabular-nums sm:text-right">
                      {request.price ? (
                        formatMoney(request.price)
                      ) : (
                        <span className="text-muted">No price</span>
                      )}
                    </span>
                    <span className="text-sm text-muted sm:w-20 sm:text-right">
                      <Ago at={request.createdAt} />
                    </span>
                  </div>
                  <ChevronRight aria-hidden className="size-4 shrink-0 text-muted sm:hidden" />
                </li>
              ))}
            </ul>
          )}
          {data.items.length === 0 && state.cursor && <EndOfList />}
        </Card>
        <Pagination
          label="Pages of requests"
          state={state}
          nextCursor={data.nextCursor}
          hrefOf={(page) => requestsHref(projectId, page)}
        />
      </div>
    </>
  );
}

/** The filter lives in the URL, so a filtered view can be bookmarked and shared. */
function StatusFilter({ projectId, state }: { projectId: string; state: ListState }) {
  const router = useRouter();
  const [isPending, startTransition] = useTransition();
  const show = (value: string) =>
    startTransition(() =>
      router.push(requestsHref(projectId, value === ANY ? {} : { status: RequestStatus.parse(value) }), {
        scroll: false,
      }),
    );
  return (
    <search aria-label="Filter requests" aria-busy={isPending} className="mb-4 block">
      <Select value={state.status ?? ANY} onValueChange={show}>
        <SelectTrigger aria-label="Status" className="h-8 w-auto min-w-44 text-sm" />
        <SelectContent>
          <SelectItem value={ANY}>Any status</SelectItem>
          {RequestStatus.options.map((status) => (
            <SelectItem key={status} value={status}>
              {REQUEST_LOOK[status].label}
            </SelectItem>
          ))}
        </SelectContent>
      </Select>
    </search>
  );
}
