import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { PinRoom } from "@/components/pins/pin-room";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Run pinned request" };

type Props = { params: Promise<{ projectId: string }> };

export default async function RunPinPage({ params }: Props) {
  const { projectId } = await params;
  await requirePerson(`/projects/${projectId}/pinned/new`);
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.pinned.choices.queryOptions({ project_id: projectId })),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <PinRoom projectId={projectId} />
    </HydrationBoundary>
  );
}
