import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { ConnectionsRoom } from "@/components/connections/connections-room";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Connections" };

type Props = {
  params: Promise<{ projectId: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
};

export default async function ConnectionsPage({ params, searchParams }: Props) {
  const { projectId } = await params;
  const query = await searchParams;
  const word = (name: string) => (typeof query[name] === "string" ? query[name] : null);
  const [provider, environment, onboarding] = [word("provider"), word("environment"), word("onboarding")];
  const asked = new URLSearchParams({
    ...(environment && { environment }),
    ...(provider && { provider }),
    ...(onboarding && { onboarding }),
  });
  await requirePerson(`/projects/${projectId}/connections${asked.size > 0 ? `?${asked}` : ""}`);
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.connections.list.queryOptions({ project_id: projectId })),
      queryClient.fetchQuery(trpc.connections.providers.queryOptions()),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <ConnectionsRoom projectId={projectId} asked={{ provider, environment, onboarding }} />
    </HydrationBoundary>
  );
}
