import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { SettingsRoom } from "@/components/settings/settings-room";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Settings" };

type Props = { params: Promise<{ projectId: string }> };

export default async function SettingsPage({ params }: Props) {
  const { projectId } = await params;
  await requirePerson(`/projects/${projectId}/settings`);
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.projects.approvalRules.queryOptions({ project_id: projectId })),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <SettingsRoom projectId={projectId} />
    </HydrationBoundary>
  );
}
