import { cookies } from "next/headers";
import type { ReactNode } from "react";
import { PanelData } from "@/components/data/panel-data";
import { LAST_PROJECT_COOKIE } from "@/components/shell/last-project";
import { PlainPage } from "@/components/shell/plain-page";
import { findPerson } from "@/server/auth/session";
import { panelRead } from "@/server/trpc/prefetch";
import { PanelFrame } from "../frame";

/**
 * The frame of an organization's pages: that of the last opened project, or of the first; a plain page for a reader without
 * projects.
 */
export default async function BillingLayout({ children }: { children: ReactNode }) {
  const person = await findPerson();
  if (!person) return children;
  const projects = await panelRead(({ trpc, queryClient }) =>
    queryClient.fetchQuery(trpc.projects.list.queryOptions()),
  );
  const last = (await cookies()).get(LAST_PROJECT_COOKIE)?.value;
  const project = projects.find(({ projectId }) => projectId === last) ?? projects[0];
  if (!project)
    return (
      <PanelData>
        <PlainPage>{children}</PlainPage>
      </PanelData>
    );
  return (
    <PanelFrame person={person} projects={projects} projectId={project.projectId}>
      {children}
    </PanelFrame>
  );
}
