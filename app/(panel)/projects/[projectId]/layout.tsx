import type { ReactNode } from "react";
import { PanelShell } from "@/components/shell/panel-shell";
import { PanelData } from "@/components/trpc";
import { findPerson } from "@/server/auth/session";
import { panelRead } from "@/server/trpc/prefetch";

type Props = { children: ReactNode; params: Promise<{ projectId: string }> };

/** The frame. Each page asks for the session itself, since it knows the address to come back to. */
export default async function ProjectLayout({ children, params }: Props) {
  const person = await findPerson();
  if (!person) return children;
  const { projectId } = await params;
  const projects = await panelRead(({ trpc, queryClient }) =>
    queryClient.fetchQuery(trpc.projects.list.queryOptions()),
  );
  return (
    <PanelData>
      <PanelShell
        person={{ email: person.email, isOperator: person.isOperator }}
        projects={projects}
        projectId={projectId}
      >
        {children}
      </PanelShell>
    </PanelData>
  );
}
