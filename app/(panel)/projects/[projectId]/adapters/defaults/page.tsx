import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { DefaultsRoom } from "@/components/adapters/aliases/defaults-room";
import { defaultsHref, readPageState } from "@/components/adapters/list-state";
import type { SearchParams } from "@/components/ui/paging";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Adapter defaults" };

type Props = { params: Promise<{ projectId: string }>; searchParams: Promise<SearchParams> };

export default async function DefaultsPage({ params, searchParams }: Props) {
  const { projectId } = await params;
  const { environment } = readPageState(await searchParams);
  await requirePerson(defaultsHref(projectId, environment));
  const place = { projectId, environment };
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.adapters.defaults.queryOptions(place)),
      queryClient.fetchQuery(trpc.adapters.aliases.queryOptions({ ...place, limit: 200 })),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <DefaultsRoom projectId={projectId} environment={environment} />
    </HydrationBoundary>
  );
}
