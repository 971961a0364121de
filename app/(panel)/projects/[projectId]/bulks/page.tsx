import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { BulkHistory } from "@/components/bulks/bulk-history";
import { bulksHref, readPlace, toPinPageQuery } from "@/components/pins/list-state";
import type { SearchParams } from "@/components/ui/paging";
import { requirePerson } from "@/server/auth/session";
import { publicUrl } from "@/server/platform/settings/env";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Bulks" };

type Props = { params: Promise<{ projectId: string }>; searchParams: Promise<SearchParams> };

export default async function BulksPage({ params, searchParams }: Props) {
  const { projectId } = await params;
  const place = readPlace(await searchParams);
  await requirePerson(bulksHref(projectId, place));
  await panelRead(({ trpc, queryClient }) =>
    queryClient.fetchQuery(trpc.pinned.bulks.queryOptions(toPinPageQuery(projectId, place))),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <BulkHistory projectId={projectId} place={place} baseUrl={publicUrl} />
    </HydrationBoundary>
  );
}
