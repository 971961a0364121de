"use client";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useRouter } from "next/navigation";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import type { FormValues } from "@/components/blocks/form/form-values";
import { useTRPC } from "@/components/data/trpc";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Section } from "@/components/ui/card";
import Link from "@/components/ui/link";
import type { ProjectDetail } from "@/server/contract/projects";

/** All projects of an organization with their environments, including archived ones. */
export function ProjectList({ organizationId, isAdmin }: { organizationId: string; isAdmin: boolean }) {
  const trpc = useTRPC();
  const { data: projects } = useSuspenseQuery(trpc.organizations.projects.queryOptions({ organizationId }));
  return (
    <Section
      id="projects-title"
      title="Projects and environments"
      actions={isAdmin && <ProjectDialog organizationId={organizationId} />}
      isFlush
    >
      <ul aria-labelledby="projects-title" className="divide-y divide-line">
        {projects.map((project) => (
          <Row key={project.id} project={project} isAdmin={isAdmin} />
        ))}
      </ul>
    </Section>
  );
}

function Row({ project, isAdmin }: { project: ProjectDetail; isAdmin: boolean }) {
  const change = useChange();
  const isArchived = project.status === "archived";
  const verb = isArchived ? "Restore" : "Archive";
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3" data-project={project.slug}>
      <div className="min-w-0 flex-1 basis-56 space-y-1">
        <div className="flex flex-wrap items-center gap-2 text-sm font-medium">
          <Link dir="auto" className="text-link hover:underline" href={`/projects/${project.id}/jobs`}>
            {project.displayName}
          </Link>
          {isArchived && <Badge tone="warn">Archived</Badge>}
        </div>
        <div className="flex flex-wrap items-center gap-1.5 text-xs text-muted">
          <code>{project.slug}</code>
          {project.environments.map((each) => (
            <Badge key={each.id} tone={each.status === "archived" ? "warn" : "neutral"}>
              {each.slug}
              {each.status === "archived" && " (archived)"}
            </Badge>
          ))}
        </div>
      </div>
      {isAdmin && (
        <div className="flex flex-wrap gap-2">
          <ProjectDialog organizationId={project.organizationId} project={project} />
          <ConfirmAction
            label={verb}
            isAsked={!isArchived}
            title={`Archive ${project.displayName}?`}
            description="The project becomes read-only immediately. It can be restored later."
            action="Archive project"
            onConfirm={() =>
              change.mutate({ projectId: project.id, status: isArchived ? "active" : "archived" })
            }
            size="sm"
            pending={change.isPending}
            aria-label={`${verb} ${project.displayName}`}
          />
        </div>
      )}
    </li>
  );
}

function useAgain() {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  return () => {
    router.refresh(); // the page's frame lists the projects and marks archived ones
    return Promise.all([
      queryClient.invalidateQueries({ queryKey: trpc.organizations.pathKey() }),
      queryClient.invalidateQueries({ queryKey: trpc.projects.pathKey() }),
    ]);
  };
}

function useChange() {
  const trpc = useTRPC();
  const onSettled = useAgain();
  return useAction(trpc.organizations.changeProject.mutationOptions({ onSettled }), {
    done: ({ displayName }) => `${displayName} saved`,
  });
}

/** Creates a project, or edits one: its name, its slug, and an additional environment. */
function ProjectDialog({ organizationId, project }: { organizationId: string; project?: ProjectDetail }) {
  const trpc = useTRPC();
  const onSettled = useAgain();
  const add = useAction(trpc.organizations.addProject.mutationOptions({ onSettled }), { isInPlace: true });
  const change = useAction(trpc.organizations.changeProject.mutationOptions({ onSettled }), {
    isInPlace: true,
  });
  function send(sent: FormValues) {
    const displayName = sent.text("displayName");
    const [slug, environment] = [sent.given("slug"), sent.given("environment")];
    if (!project) return add.mutate({ organizationId, displayName, ...(environment && { environment }) });
    change.mutate({
      projectId: project.id,
      displayName,
      ...(slug && { slug }),
      ...(environment && { environments: [{ slug: environment }] }),
    });
  }
  return (
    <FormDialog
      title={project ? `Edit ${project.displayName}` : "New project"}
      trigger={
        project ? (
          <Button size="sm" aria-label={`Edit ${project.displayName}`}>
            Edit
          </Button>
        ) : (
          <Button size="sm" variant="primary">
            <Plus aria-hidden />
            New project
          </Button>
        )
      }
      action={project ? change : add}
      send={send}
      submit={project ? "Save" : "Create project"}
    >
      <TextField
        name="displayName"
        label="Name"
        required
        maxLength={128}
        defaultValue={project?.displayName}
      />
      {project && <TextField name="slug" label="Slug" maxLength={64} defaultValue={project.slug} />}
      <TextField name="environment" label="New environment (optional)" maxLength={63} placeholder="staging" />
    </FormDialog>
  );
}
