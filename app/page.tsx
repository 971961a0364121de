import { cookies } from "next/headers";
import { redirect } from "next/navigation";
import { LAST_PROJECT_COOKIE } from "@/components/shell/last-project";
import { PlainPage, PlainTitle } from "@/components/shell/plain-page";
import { requirePerson } from "@/server/auth/session";
import { panelRead } from "@/server/trpc/prefetch";

/** The start: the project last chosen, else the first one. */
export default async function Home() {
  await requirePerson("/");
  const projects = await panelRead(({ trpc, queryClient }) =>
    queryClient.fetchQuery(trpc.projects.list.queryOptions()),
  );
  const last = (await cookies()).get(LAST_PROJECT_COOKIE)?.value;
  const project = projects.find((candidate) => candidate.projectId === last) ?? projects[0];
  if (project) redirect(`/projects/${project.projectId}/jobs`);
  return (
    <PlainPage>
      <PlainTitle title="No project yet">
        Your organizations have no project. An operator can create one with{" "}
        <code className="text-sm">npm run admin -- project create --name …</code>
      </PlainTitle>
    </PlainPage>
  );
}
