import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { AliasPage } from "@/components/adapters/aliases/alias-page";
import { aliasHref, readPageState, toPageQuery } from "@/components/adapters/list-state";
import type { SearchParams } from "@/components/ui/paging";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

type Props = {
  params: Promise<{ projectId: string; alias: string }>;
  searchParams: Promise<SearchParams>;
};

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: `${decodeURIComponent((await params).alias)} (alias)` };
}

export default async function OneAliasPage({ params, searchParams }: Props) {
  const { projectId, alias } = await params;
  const state = readPageState(await searchParams);
  const alias_name = decodeURIComponent(alias);
  await requirePerson(aliasHref(projectId, alias_name, state));
  const { environment } = state;
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.adapters.alias.queryOptions({ projectId, environment, alias_name })),
      queryClient.fetchQuery(
        trpc.adapters.history.queryOptions({ ...toPageQuery(projectId, state), alias_name }),
      ),
      queryClient.fetchQuery(trpc.adapters.defaults.queryOptions({ projectId, environment })),
      queryClient.fetchQuery(trpc.adapters.choices.queryOptions()),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <AliasPage projectId={projectId} name={alias_name} state={state} />
    </HydrationBoundary>
  );
}
