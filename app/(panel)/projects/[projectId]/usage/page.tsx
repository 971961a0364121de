import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { UsageRoom } from "@/components/usage/usage-room";
import { readUsageState, toDaysQuery, usageHref } from "@/components/usage/usage-state";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Usage" };

type Props = {
  params: Promise<{ projectId: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
};

export default async function UsagePage({ params, searchParams }: Props) {
  const { projectId } = await params;
  const state = readUsageState(await searchParams);
  await requirePerson(usageHref(projectId, state));
  await panelRead(({ trpc, queryClient }) =>
    queryClient.fetchQuery(trpc.usage.days.queryOptions(toDaysQuery(projectId, state))),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <UsageRoom projectId={projectId} state={state} />
    </HydrationBoundary>
  );
}
