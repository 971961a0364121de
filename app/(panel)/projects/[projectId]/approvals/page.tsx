import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { ApprovalsRoom } from "@/components/approvals/approvals-room";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Approvals" };

type Props = { params: Promise<{ projectId: string }> };

export default async function ApprovalsPage({ params }: Props) {
  const { projectId } = await params;
  await requirePerson(`/projects/${projectId}/approvals`);
  await panelRead(({ trpc, queryClient }) =>
    queryClient.fetchQuery(trpc.approvals.list.queryOptions({ project_id: projectId })),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <ApprovalsRoom projectId={projectId} />
    </HydrationBoundary>
  );
}
