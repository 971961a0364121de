import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { manifestsHref, readPlace, toPinPageQuery } from "@/components/pins/list-state";
import { ManifestList } from "@/components/provenance/manifest-list";
import type { SearchParams } from "@/components/ui/paging";
import { requirePerson } from "@/server/auth/session";
import { publicUrl } from "@/server/platform/settings/env";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Provenance" };

type Props = { params: Promise<{ projectId: string }>; searchParams: Promise<SearchParams> };

export default async function ProvenancePage({ params, searchParams }: Props) {
  const { projectId } = await params;
  const place = readPlace(await searchParams);
  await requirePerson(manifestsHref(projectId, place));
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.provenance.manifests.queryOptions(toPinPageQuery(projectId, place))),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <ManifestList projectId={projectId} place={place} baseUrl={publicUrl} />
    </HydrationBoundary>
  );
}
