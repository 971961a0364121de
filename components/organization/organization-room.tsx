"use client";
import { useAction } from "@/components/blocks/data/use-action";
import { useProject } from "@/components/blocks/data/use-project";
import { TextField } from "@/components/blocks/form/fields";
import { FormDialog } from "@/components/blocks/form/form-dialog";
import { useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Button } from "@/components/ui/button";
import { Tabs, TabsContent, TabsList, TabsTrigger } from "@/components/ui/tabs";
import { useAddress } from "@/components/ui/use-address";
import { AuditLog } from "./audit-log";
import { KeyList } from "./key-list";
import { ORGANIZATION_VIEWS, type OrganizationState, organizationHref } from "./organization-state";
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
  const { project } = useProject(projectId);
  const { wanted, show } = useAddress(state, (next) => organizationHref(projectId, next));
  if (!project) return null; // the page has already handled a missing project
  const { organizationId, role } = project;
  const isAdmin = role === "owner" || role === "admin";
  const views = ORGANIZATION_VIEWS.filter((view) => view !== "log" || isAdmin);
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
          <KeyList organizationId={organizationId} canWrite={role !== "viewer"} isOwner={role === "owner"} />
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
  const rename = useAction(trpc.organizations.rename.mutationOptions(), {
    done: "Organization renamed",
    refresh: [trpc.organizations.pathKey(), trpc.projects.pathKey()],
    isInPlace: true,
  });
  return (
    <FormDialog
      title="Rename organization"
      trigger={<Button>Rename</Button>}
      action={rename}
      send={(sent) => rename.mutate({ organizationId, displayName: sent.text("displayName") })}
      submit="Rename"
    >
      <TextField name="displayName" label="Name" required maxLength={255} defaultValue={name} />
    </FormDialog>
  );
}
