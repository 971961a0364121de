import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { readListState, requestsHref, toRequestsQuery } from "@/components/requests/list-state";
import { RequestList } from "@/components/requests/request-list";
import type { SearchParams } from "@/components/ui/paging";
import { requirePerson } from "@/server/auth/session";
import { publicUrl } from "@/server/platform/settings/env";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Requests" };

type Props = { params: Promise<{ projectId: string }>; searchParams: Promise<SearchParams> };

export default async function RequestsPage({ params, searchParams }: Props) {
  const { projectId } = await params;
  const state = readListState(await searchParams);
  await requirePerson(requestsHref(projectId, state));
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.requests.list.queryOptions(toRequestsQuery(projectId, state))),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <RequestList projectId={projectId} state={state} baseUrl={publicUrl} />
    </HydrationBoundary>
  );
}
