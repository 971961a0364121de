import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { OrganizationRoom } from "@/components/organization/organization-room";
import { organizationHref, readOrganizationState } from "@/components/organization/organization-state";
import { requirePerson } from "@/server/auth/session";
import { missing, panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Organization" };

type Props = {
  params: Promise<{ projectId: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
};

export default async function OrganizationPage({ params, searchParams }: Props) {
  const { projectId } = await params;
  const state = readOrganizationState(await searchParams);
  await requirePerson(organizationHref(projectId, state));
  await panelRead(async ({ trpc, queryClient }) => {
    const projects = await queryClient.fetchQuery(trpc.projects.list.queryOptions());
    const project = projects.find((each) => each.projectId === projectId);
    if (!project) return missing();
    const { organizationId, role } = project;
    const isAdmin = role === "owner" || role === "admin";
    const place = { organizationId };
    const { organizations } = trpc;
    return Promise.all([
      queryClient.fetchQuery(organizations.get.queryOptions(place)),
      queryClient.fetchQuery(organizations.members.queryOptions(place)),
      queryClient.fetchQuery(organizations.projects.queryOptions(place)),
      queryClient.fetchQuery(organizations.keys.queryOptions(place)),
      queryClient.fetchQuery(organizations.plan.queryOptions(place)),
      queryClient.fetchQuery(organizations.security.queryOptions(place)),
      isAdmin && queryClient.fetchQuery(organizations.invitations.queryOptions(place)),
    ]);
  });
  return (
    <HydrationBoundary state={panelState()}>
      <OrganizationRoom projectId={projectId} state={state} />
    </HydrationBoundary>
  );
}
