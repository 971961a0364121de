import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { newRequestHref } from "@/components/requests/list-state";
import { WriteRequest } from "@/components/requests/write-request";
import { requirePerson } from "@/server/auth/session";
import { missing, panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Write request" };

type Props = { params: Promise<{ projectId: string }> };

export default async function NewRequestPage({ params }: Props) {
  const { projectId } = await params;
  await requirePerson(newRequestHref(projectId));
  await panelRead(async ({ trpc, queryClient }) => {
    const projects = await queryClient.fetchQuery(trpc.projects.list.queryOptions());
    if (!projects.some((project) => project.projectId === projectId)) await missing();
  });
  return (
    <HydrationBoundary state={panelState()}>
      <WriteRequest projectId={projectId} />
    </HydrationBoundary>
  );
}
