import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { DefinitionList } from "@/components/embeds/definition-list";
import { readSessionState, sessionsHref, toSessionsQuery } from "@/components/embeds/list-state";
import { SessionList } from "@/components/embeds/session-list";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Embeds" };

type Props = {
  params: Promise<{ projectId: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
};

export default async function PanelsPage({ params, searchParams }: Props) {
  const { projectId } = await params;
  const state = readSessionState(await searchParams);
  await requirePerson(sessionsHref(projectId, state));
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.embeds.definitions.queryOptions({ project_id: projectId })),
      queryClient.fetchQuery(trpc.embeds.sessions.queryOptions(toSessionsQuery(projectId, state))),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <DefinitionList projectId={projectId} />
      <SessionList projectId={projectId} state={state} />
    </HydrationBoundary>
  );
}
