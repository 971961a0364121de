"use client";
import { useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { toast } from "sonner";
import { PageHeader } from "@/components/shell/page-header";
import { sentencesOf, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Dialog, DialogContent, DialogTrigger, SubmitActions } from "@/components/ui/dialog";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "@/components/ui/tabs";
import { useAddress } from "@/components/ui/use-address";
import { useMutation } from "@/components/use-mutation";
import { AuditLog } from "./audit-log";
import { KeyList } from "./key-list";
import { type OrganizationState, organizationHref, VIEWS } from "./organization-state";
import { PeopleCard } from "./people-card";
import { PlanCards } from "./plan-card";
import { ProjectList } from "./project-list";
import { SecurityCard } from "./security-card";

const NAME = {
  people: "People",
  projects: "Projects",
  keys: "API keys",
  settings: "Settings",
  log: "Audit log",
};

/** The settings of the organization a project belongs to. */
export function OrganizationRoom({ projectId, state }: { projectId: string; state: OrganizationState }) {
  const trpc = useTRPC();
  const { data: projects } = useSuspenseQuery(trpc.projects.list.queryOptions());
  const project = projects.find((each) => each.projectId === projectId);
  const { wanted, show } = useAddress(state, (next) => organizationHref(projectId, next));
  if (!project) return null; // the page has handled that already
  const { organizationId, role } = project;
  const isAdmin = role === "owner" || role === "admin";
  const views = VIEWS.filter((view) => view !== "log" || isAdmin);
  const view = views.includes(wanted.view) ? wanted.view : "people";
  return (
    <>
      <PageHeader
        title={project.organizationName}
        actions={isAdmin && <Rename organizationId={organizationId} name={project.organizationName} />}
      >
        Members, projects, keys and settings of the organization. Your role is {role}.
      </PageHeader>
      <Tabs
        value={view}
        onValueChange={(next) => show({ view: views.find((each) => each === next) ?? "people" })}
      >
        <TabsList className="mb-4" aria-label="Organization settings">
          {views.map((each) => (
            <TabsTrigger key={each} value={each}>
              {NAME[each]}
            </TabsTrigger>
          ))}
        </TabsList>
        <TabsContent value="people">
          <PeopleCard organizationId={organizationId} role={role} />
        </TabsContent>
        <TabsContent value="projects">
          <ProjectList organizationId={organizationId} isAdmin={isAdmin} />
        </TabsContent>
        <TabsContent value="keys">
          <KeyList organizationId={organizationId} canWrite={role !== "viewer"} />
        </TabsContent>
        <TabsContent value="settings">
          <div className="space-y-4">
            <PlanCards organizationId={organizationId} isOwner={role === "owner"} />
            <SecurityCard organizationId={organizationId} isOwner={role === "owner"} />
          </div>
        </TabsContent>
        {isAdmin && (
          <TabsContent value="log">
            <AuditLog organizationId={organizationId} />
          </TabsContent>
        )}
      </Tabs>
    </>
  );
}

function Rename({ organizationId, name }: { organizationId: string; name: string }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const rename = useMutation(
    trpc.organizations.rename.mutationOptions({
      onSuccess: () => {
        toast.success("Organization renamed");
        setOpen(false);
      },
      onSettled: () =>
        Promise.all([
          queryClient.invalidateQueries({ queryKey: trpc.organizations.pathKey() }),
          queryClient.invalidateQueries({ queryKey: trpc.projects.pathKey() }),
        ]),
      meta: { isShownInPlace: true },
    }),
  );
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const displayName = String(new FormData(event.currentTarget).get("name"));
    rename.mutate({ organizationId, displayName });
  }
  return (
    <Dialog open={isOpen} onOpenChange={setOpen}>
      <DialogTrigger asChild>
        <Button>Rename</Button>
      </DialogTrigger>
      <DialogContent title="Rename organization">
        <form onSubmit={submit} className="space-y-4">
          {rename.error && (
            <Notice tone="bad" role="alert">
              {sentencesOf(rename.error)}
            </Notice>
          )}
          <div className="space-y-1.5">
            <Label htmlFor="organization-name">Name</Label>
            <Input id="organization-name" name="name" required maxLength={255} defaultValue={name} />
          </div>
          <SubmitActions pending={rename.isPending}>Rename</SubmitActions>
        </form>
      </DialogContent>
    </Dialog>
  );
}
