import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { BudgetsRoom } from "@/components/budgets/budgets-room";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Budgets" };

type Props = { params: Promise<{ projectId: string }> };

export default async function BudgetsPage({ params }: Props) {
  const { projectId } = await params;
  await requirePerson(`/projects/${projectId}/budgets`);
  const project = { project_id: projectId };
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.budgets.list.queryOptions(project)),
      queryClient.fetchQuery(trpc.budgets.alerts.queryOptions(project)),
      queryClient.fetchQuery(trpc.budgets.guardrails.queryOptions(project)),
      queryClient.fetchQuery(trpc.budgets.holds.queryOptions({ projectId })),
      queryClient.fetchQuery(trpc.keys.list.queryOptions(project)),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <BudgetsRoom projectId={projectId} />
    </HydrationBoundary>
  );
}
