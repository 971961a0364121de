import type { ReactNode } from "react";
import { findPerson } from "@/server/auth/session";
import { missing, panelRead } from "@/server/trpc/prefetch";
import { PanelFrame } from "../../frame";

type Props = { children: ReactNode; params: Promise<{ projectId: string }> };

/**
 * The frame of a project the reader is a member of. Each page checks the session itself, because it knows the URL to
 * return to.
 */
export default async function ProjectLayout({ children, params }: Props) {
  const person = await findPerson();
  if (!person) return children;
  const { projectId } = await params;
  const projects = await panelRead(({ trpc, queryClient }) =>
    queryClient.fetchQuery(trpc.projects.list.queryOptions()),
  );
  if (!projects.some((each) => each.projectId === projectId)) await missing();
  return (
    <PanelFrame person={person} projects={projects} projectId={projectId}>
      {children}
    </PanelFrame>
  );
}
