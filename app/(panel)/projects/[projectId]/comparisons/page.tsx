import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { ComparisonHistory } from "@/components/comparisons/comparison-history";
import { comparisonsHref, readListState, toComparisonsQuery } from "@/components/comparisons/list-state";
import type { SearchParams } from "@/components/ui/paging";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Comparisons" };

type Props = { params: Promise<{ projectId: string }>; searchParams: Promise<SearchParams> };

export default async function ComparisonsPage({ params, searchParams }: Props) {
  const { projectId } = await params;
  const state = readListState(await searchParams);
  await requirePerson(comparisonsHref(projectId, state));
  const capabilities = await panelRead(async ({ trpc, queryClient }) => {
    const [keys] = await Promise.all([
      queryClient.fetchQuery(trpc.projects.capabilities.queryOptions()),
      queryClient.fetchQuery(trpc.comparisons.list.queryOptions(toComparisonsQuery(projectId, state))),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]);
    return keys;
  });
  return (
    <HydrationBoundary state={panelState()}>
      <ComparisonHistory projectId={projectId} state={state} capabilities={capabilities} />
    </HydrationBoundary>
  );
}
