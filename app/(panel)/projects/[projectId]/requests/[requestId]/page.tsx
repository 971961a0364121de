import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { requestHref } from "@/components/requests/list-state";
import { RequestPage } from "@/components/requests/request-page";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

type Props = { params: Promise<{ projectId: string; requestId: string }> };

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: `Request ${(await params).requestId}` };
}

export default async function Page({ params }: Props) {
  const { projectId, requestId } = await params;
  await requirePerson(requestHref(projectId, requestId));
  await panelRead(async ({ trpc, queryClient }) => {
    const asked = { request_id: requestId };
    const request = await queryClient.fetchQuery(trpc.requests.get.queryOptions(asked));
    if (request.projectId !== projectId) notFound();
    await Promise.all([
      queryClient.fetchQuery(trpc.requests.events.queryOptions(asked)),
      queryClient.fetchQuery(trpc.requests.revisions.queryOptions(asked)),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
      request.quoteId &&
        queryClient.fetchQuery(trpc.requests.commission.queryOptions({ quoteId: request.quoteId })),
    ]);
  });
  return (
    <HydrationBoundary state={panelState()}>
      <RequestPage projectId={projectId} requestId={requestId} />
    </HydrationBoundary>
  );
}
