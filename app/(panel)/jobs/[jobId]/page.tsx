import { redirect } from "next/navigation";
import { requirePerson } from "@/server/auth/session";
import { panelRead } from "@/server/trpc/prefetch";

type Props = { params: Promise<{ jobId: string }>; searchParams: Promise<Record<string, string>> };

/** Redirects a job id, as used in logs and messages, to the job's page in its project, to the same tab. */
export default async function JobById({ params, searchParams }: Props) {
  const { jobId } = await params;
  const query = new URLSearchParams(await searchParams).toString();
  const search = query && `?${query}`;
  await requirePerson(`/jobs/${jobId}${search}`);
  const job = await panelRead(({ trpc, queryClient }) =>
    queryClient.fetchQuery(trpc.jobs.get.queryOptions({ job_id: jobId })),
  );
  redirect(`/projects/${job.projectId}/jobs/${job.jobId}${search}`);
}
