import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { AddAdapter } from "@/components/adapters/add/add-adapter";
import { newAdapterHref, readPageState } from "@/components/adapters/list-state";
import type { SearchParams } from "@/components/ui/paging";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Add adapter" };

type Props = { params: Promise<{ projectId: string }>; searchParams: Promise<SearchParams> };

export default async function NewAdapterPage({ params, searchParams }: Props) {
  const { projectId } = await params;
  const { environment } = readPageState(await searchParams);
  await requirePerson(newAdapterHref(projectId, environment));
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.adapters.choices.queryOptions()),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <AddAdapter projectId={projectId} environment={environment} />
    </HydrationBoundary>
  );
}
