import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { BudgetsRoom } from "@/components/budgets/budgets-room";
import { alertsQuery, holdsQuery } from "@/components/budgets/queries";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";
import { modeOf } from "../../../frame";

export const metadata: Metadata = { title: "Budgets" };

type Props = { params: Promise<{ projectId: string }> };

export default async function BudgetsPage({ params }: Props) {
  const { projectId } = await params;
  await requirePerson(`/projects/${projectId}/budgets`);
  const project = { project_id: projectId };
  const isTest = (await modeOf(projectId)) === "test";
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.budgets.list.queryOptions(project)),
      queryClient.fetchQuery(trpc.budgets.alerts.queryOptions(alertsQuery(projectId, isTest))),
      queryClient.fetchQuery(trpc.budgets.guardrails.queryOptions(project)),
      ...(["ambiguous", "open"] as const).map((state) =>
        queryClient.fetchQuery(trpc.budgets.holds.queryOptions(holdsQuery(projectId, isTest, state))),
      ),
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
