import { cookies } from "next/headers";
import { redirect } from "next/navigation";
import { PanelData } from "@/components/data/panel-data";
import { OnboardingForm } from "@/components/organization/onboarding-form";
import { LAST_PROJECT_COOKIE } from "@/components/shell/last-project";
import { PlainPage, PlainTitle } from "@/components/shell/plain-page";
import { requirePerson } from "@/server/auth/session";
import { isOnboardingOpen } from "@/server/domain/organizations";
import { askedBy } from "@/server/domain/sessions";
import { panelRead } from "@/server/trpc/prefetch";

/** The start page: redirects to the last chosen project, else the first. */
export default async function Home() {
  const person = await requirePerson("/");
  const projects = await panelRead(({ trpc, queryClient }) =>
    queryClient.fetchQuery(trpc.projects.list.queryOptions()),
  );
  const last = (await cookies()).get(LAST_PROJECT_COOKIE)?.value;
  const chosen = projects.find((candidate) => candidate.projectId === last);
  const project = chosen && !chosen.isArchived ? chosen : projects[0]; // active ones first
  if (project) redirect(`/projects/${project.projectId}/jobs`);
  if (askedBy({ principal: person }).length > 0) redirect("/account");
  if (person.memberships.size === 0 && isOnboardingOpen())
    return (
      <PanelData>
        <PlainPage>
          <PlainTitle title="Welcome to Capstan">
            You don't belong to an organization yet. Create one, or open an invitation link.
          </PlainTitle>
          <OnboardingForm />
        </PlainPage>
      </PanelData>
    );
  return (
    <PlainPage>
      <PlainTitle title="No project yet">
        Your organizations have no projects. An operator can create one with{" "}
        <code className="text-sm">npm run admin -- project create --name …</code>
      </PlainTitle>
    </PlainPage>
  );
}
