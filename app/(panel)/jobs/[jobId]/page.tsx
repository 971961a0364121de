import { redirect } from "next/navigation";
import { requirePerson } from "@/server/auth/session";
import { panelRead } from "@/server/trpc/prefetch";

type Props = { params: Promise<{ jobId: string }> };

/** Redirects a job id, as used in logs and messages, to the job's page in its project. */
export default async function JobById({ params }: Props) {
  const { jobId } = await params;
  await requirePerson(`/jobs/${jobId}`);
  const job = await panelRead(({ trpc, queryClient }) =>
    queryClient.fetchQuery(trpc.jobs.get.queryOptions({ job_id: jobId })),
  );
  redirect(`/projects/${job.projectId}/jobs/${job.jobId}`);
}
