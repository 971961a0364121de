"use client";
import { Check } from "lucide-react";
import { usePathname, useRouter } from "next/navigation";
import type { ProjectChoice } from "@/components/data/trpc";
import { DropdownMenu, DropdownMenuItem, DropdownMenuLabel } from "@/components/ui/dropdown-menu";
import type { MenuProps } from "@/components/ui/menu-button";
import { leaveUnsaved } from "@/components/unsaved/unsaved-work";
import { LAST_PROJECT_COOKIE } from "./last-project";

export function ProjectMenu({
  projects,
  current,
  trigger,
  asked,
}: MenuProps & { projects: ProjectChoice[]; current: string }) {
  const router = useRouter();
  const room = usePathname().split("/")[3] ?? "jobs";
  const organizations = [...new Map(projects.map((p) => [p.organizationId, p.organizationName]))];
  return (
    <DropdownMenu
      trigger={trigger}
      asked={asked}
      align="start"
      className="w-(--radix-dropdown-menu-trigger-width) min-w-56"
    >
      {organizations.map(([organizationId, name]) => (
        <div key={organizationId}>
          <DropdownMenuLabel className="truncate">{name}</DropdownMenuLabel>
          {projects
            .filter((project) => project.organizationId === organizationId)
            .map((project) => (
              <DropdownMenuItem
                key={project.projectId}
                onSelect={() =>
                  leaveUnsaved(() => {
                    rememberProject(project.projectId);
                    router.push(`/projects/${project.projectId}/${room}`);
                  })
                }
              >
                <span dir="auto" className="min-w-0 flex-1 truncate">
                  {project.displayName}
                  {project.isArchived && " (archived)"}
                </span>
                {project.projectId === current && <Check aria-label="current" className="text-link!" />}
              </DropdownMenuItem>
            ))}
        </div>
      ))}
    </DropdownMenu>
  );
}

function rememberProject(projectId: string) {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in plain-http pages
  document.cookie = `${LAST_PROJECT_COOKIE}=${projectId}; path=/; max-age=31536000; samesite=lax`;
}
