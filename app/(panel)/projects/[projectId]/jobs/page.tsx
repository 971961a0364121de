import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { JobHistory } from "@/components/jobs/list/job-history";
import { listHref, readListState, toJobsQuery } from "@/components/jobs/list/list-state";
import { PageHeader } from "@/components/shell/page-header";
import { requirePerson } from "@/server/auth/session";
import { publicUrl } from "@/server/platform/settings/env";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Jobs" };

type Props = {
  params: Promise<{ projectId: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
};

export default async function JobsPage({ params, searchParams }: Props) {
  const { projectId } = await params;
  const state = readListState(await searchParams);
  await requirePerson(listHref(projectId, state));
  const capabilities = await panelRead(async ({ trpc, queryClient }) => {
    const [keys] = await Promise.all([
      queryClient.fetchQuery(trpc.projects.capabilities.queryOptions()),
      queryClient.fetchQuery(trpc.jobs.list.queryOptions(toJobsQuery(projectId, state))),
    ]);
    return keys;
  });
  return (
    <HydrationBoundary state={panelState()}>
      <PageHeader title="Jobs">Every execution of this project, newest first.</PageHeader>
      <JobHistory projectId={projectId} state={state} capabilities={capabilities} baseUrl={publicUrl} />
    </HydrationBoundary>
  );
}
