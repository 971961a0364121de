import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { AliasList } from "@/components/adapters/aliases/alias-list";
import { aliasesHref, readPageState, toPageQuery } from "@/components/adapters/list-state";
import type { SearchParams } from "@/components/ui/paging";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Adapter aliases" };

type Props = { params: Promise<{ projectId: string }>; searchParams: Promise<SearchParams> };

export default async function AliasesPage({ params, searchParams }: Props) {
  const { projectId } = await params;
  const state = readPageState(await searchParams);
  await requirePerson(aliasesHref(projectId, state));
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.adapters.aliases.queryOptions(toPageQuery(projectId, state))),
      queryClient.fetchQuery(trpc.adapters.choices.queryOptions()),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <AliasList projectId={projectId} state={state} />
    </HydrationBoundary>
  );
}
