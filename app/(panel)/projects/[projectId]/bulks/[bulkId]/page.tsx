import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { BulkPage } from "@/components/bulks/bulk-page";
import { itemsHref, readItemState, toBulkQuery } from "@/components/bulks/bulk-state";
import type { SearchParams } from "@/components/ui/paging";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

type Props = {
  params: Promise<{ projectId: string; bulkId: string }>;
  searchParams: Promise<SearchParams>;
};

export const metadata: Metadata = { title: "Bulk" };

export default async function Page({ params, searchParams }: Props) {
  const { projectId, bulkId } = await params;
  const state = readItemState(await searchParams);
  await requirePerson(itemsHref(projectId, bulkId, state));
  await panelRead(async ({ trpc, queryClient }) => {
    const [bulk] = await Promise.all([
      queryClient.fetchQuery(trpc.pinned.bulk.queryOptions(toBulkQuery(bulkId, state))),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]);
    if (bulk.projectId !== projectId) notFound();
  });
  return (
    <HydrationBoundary state={panelState()}>
      <BulkPage projectId={projectId} bulkId={bulkId} state={state} />
    </HydrationBoundary>
  );
}
