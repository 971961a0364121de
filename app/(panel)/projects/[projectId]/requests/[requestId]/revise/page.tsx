import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { reviseHref } from "@/components/requests/list-state";
import { ReviseRequest } from "@/components/requests/write-request";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Revise request" };

type Props = { params: Promise<{ projectId: string; requestId: string }> };

export default async function RevisePage({ params }: Props) {
  const { projectId, requestId } = await params;
  await requirePerson(reviseHref(projectId, requestId));
  await panelRead(async ({ trpc, queryClient }) => {
    const [request] = await Promise.all([
      queryClient.fetchQuery(trpc.requests.get.queryOptions({ request_id: requestId })),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]);
    if (request.projectId !== projectId) notFound();
  });
  return (
    <HydrationBoundary state={panelState()}>
      <ReviseRequest projectId={projectId} requestId={requestId} />
    </HydrationBoundary>
  );
}
