"use client";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { type FormEvent, useState } from "react";
import { toast } from "sonner";
import { sentencesOf, useTRPC } from "@/components/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { Card, CardHeader } from "@/components/ui/card";
import { Dialog, DialogContent, DialogTrigger, SubmitActions } from "@/components/ui/dialog";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { useMutation } from "@/components/use-mutation";
import type { ProjectDetail } from "@/server/contract/projects";

/** All projects of an organization with their environments, including archived ones. */
export function ProjectList({ organizationId, isAdmin }: { organizationId: string; isAdmin: boolean }) {
  const trpc = useTRPC();
  const { data: projects } = useSuspenseQuery(trpc.organizations.projects.queryOptions({ organizationId }));
  return (
    <Card aria-labelledby="projects-title" className="overflow-hidden">
      <CardHeader
        id="projects-title"
        title="Projects and environments"
        actions={isAdmin && <ProjectDialog organizationId={organizationId} />}
      />
      <ul aria-labelledby="projects-title" className="divide-y divide-line">
        {projects.map((project) => (
          <Row key={project.id} project={project} isAdmin={isAdmin} />
        ))}
      </ul>
    </Card>
  );
}

function Row({ project, isAdmin }: { project: ProjectDetail; isAdmin: boolean }) {
  const change = useChange();
  const isArchived = project.status === "archived";
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-4 py-3" data-project={project.slug}>
      <div className="min-w-0 flex-1 basis-56 space-y-1">
        <div className="flex flex-wrap items-center gap-2 text-sm font-medium">
          <Link dir="auto" className="text-link hover:underline" href={`/projects/${project.id}/jobs`}>
            {project.displayName}
          </Link>
          {isArchived && <Badge tone="warn">archived</Badge>}
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
          {isArchived ? (
            <Button
              size="sm"
              pending={change.isPending}
              aria-label={`Restore ${project.displayName}`}
              onClick={() => change.mutate({ projectId: project.id, status: "active" })}
            >
              Restore
            </Button>
          ) : (
            <Confirm
              title={`Archive ${project.displayName}?`}
              description="The project becomes read-only immediately. It can be restored later."
              action="Archive project"
              onConfirm={() => change.mutate({ projectId: project.id, status: "archived" })}
            >
              <Button size="sm" pending={change.isPending} aria-label={`Archive ${project.displayName}`}>
                Archive
              </Button>
            </Confirm>
          )}
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
  return useMutation(
    trpc.organizations.changeProject.mutationOptions({
      onSuccess: ({ displayName }) => toast.success(`${displayName} saved`),
      onSettled,
    }),
  );
}

/** Creates a project, or edits one: its name, its slug, and an additional environment. */
function ProjectDialog({ organizationId, project }: { organizationId: string; project?: ProjectDetail }) {
  const trpc = useTRPC();
  const onSettled = useAgain();
  const [isOpen, setOpen] = useState(false);
  const options = { onSuccess: () => setOpen(false), onSettled, meta: { isShownInPlace: true } };
  const add = useMutation(trpc.organizations.addProject.mutationOptions(options));
  const change = useMutation(trpc.organizations.changeProject.mutationOptions(options));
  const error = add.error ?? change.error;
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const [displayName, slug, environment] = ["name", "slug", "environment"].map((name) =>
      String(fields.get(name) ?? "").trim(),
    );
    if (!project)
      return add.mutate({
        organizationId,
        displayName: displayName ?? "",
        ...(environment ? { environment } : {}),
      });
    change.mutate({
      projectId: project.id,
      ...(displayName ? { displayName } : {}),
      ...(slug ? { slug } : {}),
      ...(environment ? { environments: [{ slug: environment }] } : {}),
    });
  }
  return (
    <Dialog open={isOpen} onOpenChange={setOpen}>
      <DialogTrigger asChild>
        {project ? (
          <Button size="sm" aria-label={`Edit ${project.displayName}`}>
            Edit
          </Button>
        ) : (
          <Button size="sm" variant="primary">
            <Plus aria-hidden />
            New project
          </Button>
        )}
      </DialogTrigger>
      <DialogContent title={project ? `Edit ${project.displayName}` : "New project"}>
        <form onSubmit={submit} className="space-y-4">
          {error && (
            <Notice tone="bad" role="alert">
              {sentencesOf(error)}
            </Notice>
          )}
          <div className="space-y-1.5">
            <Label htmlFor="project-name">Name</Label>
            <Input
              id="project-name"
              name="name"
              required
              maxLength={128}
              defaultValue={project?.displayName}
              autoComplete="off"
            />
          </div>
          {project && (
            <div className="space-y-1.5">
              <Label htmlFor="project-slug">Slug</Label>
              <Input
                id="project-slug"
                name="slug"
                maxLength={64}
                defaultValue={project.slug}
                autoComplete="off"
              />
            </div>
          )}
          <div className="space-y-1.5">
            <Label htmlFor="project-environment">New environment (optional)</Label>
            <Input
              id="project-environment"
              name="environment"
              maxLength={63}
              placeholder="staging"
              autoComplete="off"
            />
          </div>
          <SubmitActions pending={add.isPending || change.isPending}>
            {project ? "Save" : "Create project"}
          </SubmitActions>
        </form>
      </DialogContent>
    </Dialog>
  );
}
