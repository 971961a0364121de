import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { AdapterPage } from "@/components/adapters/adapter-page";
import { adapterHref } from "@/components/adapters/list-state";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Adapter" };

type Props = { params: Promise<{ projectId: string; adapterId: string }> };

export default async function OneAdapterPage({ params }: Props) {
  const { projectId, adapterId } = await params;
  await requirePerson(adapterHref(projectId, adapterId));
  const asked = { adapter_id: adapterId };
  const [adapter] = await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.adapters.get.queryOptions(asked)),
      queryClient.fetchQuery(trpc.adapters.uses.queryOptions(asked)),
      queryClient.fetchQuery(trpc.adapters.choices.queryOptions()),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]),
  );
  if (adapter.projectId !== projectId) notFound();
  return (
    <HydrationBoundary state={panelState()}>
      <AdapterPage projectId={projectId} adapterId={adapterId} />
    </HydrationBoundary>
  );
}
