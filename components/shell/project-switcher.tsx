"use client";
import { Check, ChevronsUpDown, FolderKanban } from "lucide-react";
import { usePathname, useRouter } from "next/navigation";
import type { ProjectChoice } from "@/components/trpc";
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuItem,
  DropdownMenuLabel,
  DropdownMenuTrigger,
} from "@/components/ui/dropdown-menu";
import { leaveUnsaved } from "@/components/unsaved/unsaved-work";
import { LAST_PROJECT_COOKIE } from "./last-project";

/** The projects of the reader's organizations. Choosing one stays on the same page of the panel. */
export function ProjectSwitcher({ projects, current }: { projects: ProjectChoice[]; current: string }) {
  const router = useRouter();
  const room = usePathname().split("/")[3] ?? "jobs";
  const chosen = projects.find((project) => project.projectId === current);
  const organizations = [...new Map(projects.map((p) => [p.organizationId, p.organizationName]))];

  return (
    <DropdownMenu>
      <DropdownMenuTrigger className="flex w-full min-w-0 items-center gap-2.5 rounded-md border border-line bg-surface p-2 text-left shadow-card hover:bg-hover">
        <FolderKanban aria-hidden className="size-4 shrink-0 text-muted" />
        <span className="min-w-0 flex-1">
          <span className="sr-only">Project: </span>
          <span dir="auto" className="block truncate text-sm leading-4 font-medium">
            {chosen?.displayName ?? current}
            {chosen?.isArchived && " (archived)"}
          </span>
          <span dir="auto" className="block truncate text-xs text-muted">
            {chosen?.organizationName}
          </span>
        </span>
        <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-muted" />
      </DropdownMenuTrigger>
      <DropdownMenuContent align="start" className="w-(--radix-dropdown-menu-trigger-width) min-w-56">
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
      </DropdownMenuContent>
    </DropdownMenu>
  );
}

function rememberProject(projectId: string) {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is missing in plain-http pages
  document.cookie = `${LAST_PROJECT_COOKIE}=${projectId}; path=/; max-age=31536000; samesite=lax`;
}
