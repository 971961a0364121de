import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { AdapterList } from "@/components/adapters/adapter-list";
import { adaptersHref, readListState, toAdaptersQuery } from "@/components/adapters/list-state";
import type { SearchParams } from "@/components/ui/paging";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Adapters" };

type Props = { params: Promise<{ projectId: string }>; searchParams: Promise<SearchParams> };

export default async function AdaptersPage({ params, searchParams }: Props) {
  const { projectId } = await params;
  const state = readListState(await searchParams);
  await requirePerson(adaptersHref(projectId, state));
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.adapters.list.queryOptions(toAdaptersQuery(projectId, state))),
      queryClient.fetchQuery(trpc.adapters.choices.queryOptions()),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <AdapterList projectId={projectId} state={state} />
    </HydrationBoundary>
  );
}
