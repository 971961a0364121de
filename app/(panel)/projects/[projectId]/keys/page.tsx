import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { KeyRoom } from "@/components/keys/key-room";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "API keys" };

type Props = { params: Promise<{ projectId: string }> };

export default async function KeysPage({ params }: Props) {
  const { projectId } = await params;
  await requirePerson(`/projects/${projectId}/keys`);
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.keys.list.queryOptions({ project_id: projectId })),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <KeyRoom projectId={projectId} />
    </HydrationBoundary>
  );
}
