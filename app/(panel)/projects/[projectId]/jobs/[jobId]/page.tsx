import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { eventsKey } from "@/components/jobs/events-key";
import { JobPage } from "@/components/jobs/job-page";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

type Props = {
  params: Promise<{ projectId: string; jobId: string }>;
  searchParams: Promise<Record<string, string>>;
};

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: `Job ${(await params).jobId}` };
}

export default async function Page({ params, searchParams }: Props) {
  const { projectId, jobId } = await params;
  const query = new URLSearchParams(await searchParams).toString();
  await requirePerson(`/projects/${projectId}/jobs/${jobId}${query && `?${query}`}`);
  await panelRead(async ({ trpc, queryClient }) => {
    const job = await queryClient.fetchQuery(trpc.jobs.get.queryOptions({ job_id: jobId }));
    if (job.projectId !== projectId) notFound();
    const [{ events }] = await Promise.all([
      queryClient.fetchQuery(trpc.jobs.events.queryOptions({ job_id: jobId, limit: 200 })),
      queryClient.fetchQuery(trpc.usage.cost.queryOptions({ job_id: jobId, status: job.status })),
      queryClient.fetchQuery(trpc.jobs.rights.queryOptions({ job_id: jobId, status: job.status })),
      job.receiptId && queryClient.fetchQuery(trpc.jobs.receipt.queryOptions({ job_id: jobId })),
    ]);
    queryClient.setQueryData(eventsKey(jobId), events);
  });
  return (
    <HydrationBoundary state={panelState()}>
      <JobPage jobId={jobId} projectId={projectId} />
    </HydrationBoundary>
  );
}
