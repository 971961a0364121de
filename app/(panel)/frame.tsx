import { cookies } from "next/headers";
import type { ReactNode } from "react";
import { PanelData } from "@/components/data/panel-data";
import type { ProjectChoice } from "@/components/data/trpc";
import { type Mode, modeCookie, readMode } from "@/components/shell/mode-cookie";
import { PanelShell } from "@/components/shell/panel-shell";
import { panelRead } from "@/server/trpc/prefetch";

/** The frame around a page of a project. */
export async function PanelFrame({
  person,
  projects,
  projectId,
  children,
}: {
  person: { email: string; isOperator: boolean };
  projects: ProjectChoice[];
  projectId: string;
  children: ReactNode;
}) {
  return (
    <PanelData>
      <PanelShell
        person={{ email: person.email, isOperator: person.isOperator }}
        projects={projects}
        projectId={projectId}
        mode={await modeOf(projectId)}
      >
        {children}
      </PanelShell>
    </PanelData>
  );
}

/** The mode of a project's pages: the reader's choice, else live if the project has run outside the sandbox lately. */
export async function modeOf(projectId: string): Promise<Mode> {
  const chosen = readMode((await cookies()).get(modeCookie(projectId))?.value);
  if (chosen) return chosen;
  const hasLive = await panelRead(({ trpc, queryClient }) =>
    queryClient.fetchQuery(trpc.usage.hasLive.queryOptions({ project_id: projectId })),
  );
  return hasLive ? "live" : "test";
}
