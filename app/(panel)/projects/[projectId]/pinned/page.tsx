import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { pinnedHref, readPlace, toPinPageQuery } from "@/components/pins/list-state";
import { PinHistory } from "@/components/pins/pin-history";
import type { SearchParams } from "@/components/ui/paging";
import { requirePerson } from "@/server/auth/session";
import { publicUrl } from "@/server/platform/settings/env";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Pinned records" };

type Props = { params: Promise<{ projectId: string }>; searchParams: Promise<SearchParams> };

export default async function PinnedPage({ params, searchParams }: Props) {
  const { projectId } = await params;
  const place = readPlace(await searchParams);
  await requirePerson(pinnedHref(projectId, place));
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.pinned.list.queryOptions(toPinPageQuery(projectId, place))),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <PinHistory projectId={projectId} place={place} baseUrl={publicUrl} />
    </HydrationBoundary>
  );
}
