import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { newComparisonHref } from "@/components/comparisons/list-state";
import { NewComparison } from "@/components/comparisons/new/new-comparison";
import { type SearchParams, singleValues } from "@/components/ui/paging";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "New comparison" };

type Props = { params: Promise<{ projectId: string }>; searchParams: Promise<SearchParams> };

export default async function NewComparisonPage({ params, searchParams }: Props) {
  const { projectId } = await params;
  const { capability, from } = singleValues(await searchParams);
  const isCarried = from === "playground";
  await requirePerson(newComparisonHref(projectId, capability, isCarried));
  const comparable = await panelRead(async ({ trpc, queryClient }) => {
    const [projects, entries] = await Promise.all([
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
      queryClient.fetchQuery(trpc.catalog.list.queryOptions({ project_id: projectId })),
    ]);
    const role = projects.find((project) => project.projectId === projectId)?.role;
    const isDurable = entries.some(
      ({ key, executionModes }) => key === capability && executionModes.includes("job_async"),
    );
    if (!capability || !isDurable || role === "viewer") return null;
    const which = { project_id: projectId, capability_key: capability };
    await Promise.all([
      queryClient.fetchQuery(trpc.catalog.describe.queryOptions(which)),
      queryClient.fetchQuery(trpc.comparisons.options.queryOptions(which)),
    ]);
    return capability;
  });
  return (
    <HydrationBoundary state={panelState()}>
      <NewComparison projectId={projectId} capabilityKey={comparable} isCarried={isCarried} />
    </HydrationBoundary>
  );
}
