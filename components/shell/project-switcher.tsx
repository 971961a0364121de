"use client";
import { ChevronsUpDown, FolderKanban } from "lucide-react";
import type { ProjectChoice } from "@/components/data/trpc";
import { MenuButton } from "@/components/ui/menu-button";
import { onDemand } from "@/components/ui/on-demand";

const { part, prepare } = onDemand(() => import("./project-list"));
const List = part((code) => code.ProjectMenu);

/** The projects of the reader's organizations. Choosing one stays on the same page of the panel. */
export function ProjectSwitcher({ projects, current }: { projects: ProjectChoice[]; current: string }) {
  const chosen = projects.find((project) => project.projectId === current);
  return (
    <MenuButton
      className="flex w-full min-w-0 items-center gap-2.5 rounded-md border border-line bg-surface p-2 text-left shadow-card hover:bg-hover"
      prepare={prepare}
      menu={(props) => <List {...props} projects={projects} current={current} />}
    >
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
    </MenuButton>
  );
}
