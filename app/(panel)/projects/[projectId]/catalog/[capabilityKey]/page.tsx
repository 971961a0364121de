import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { CapabilityPage } from "@/components/catalog/capability-page";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

type Props = { params: Promise<{ projectId: string; capabilityKey: string }> };

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: decodeURIComponent((await params).capabilityKey) };
}

export default async function CatalogEntryPage({ params }: Props) {
  const { projectId, capabilityKey } = await params;
  const capability_key = decodeURIComponent(capabilityKey);
  await requirePerson(`/projects/${projectId}/catalog/${capabilityKey}`);
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.catalog.describe.queryOptions({ project_id: projectId, capability_key })),
      queryClient.fetchQuery(trpc.catalog.targets.queryOptions({ project_id: projectId, capability_key })),
      queryClient.fetchQuery(trpc.catalog.list.queryOptions({ project_id: projectId })),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <CapabilityPage projectId={projectId} capabilityKey={capability_key} />
    </HydrationBoundary>
  );
}
