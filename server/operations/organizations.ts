import { ApprovalRules, SetApprovalRules } from "@/server/contract/organizations";
import { ExternalActions } from "@/server/contract/plan-settings";
import {
  EnvironmentList,
  OrganizationDetail,
  OrganizationList,
  OrganizationUpdate,
  ProjectCreate,
  ProjectDetail,
  ProjectList,
  ProjectSettingsPatch,
} from "@/server/contract/projects";
import * as organizations from "@/server/domain/organizations";
import { byKeysAndPeople, byPeople, operations } from "./define";

const people = operations("Organizations and projects", byPeople);
const manage = operations("Organizations and projects", byKeysAndPeople("settings:write"));

export const listOrganizations = people.get("/v1/organizations", {
  summary: "List the organizations you belong to, oldest first",
  description: "Includes your role in each. Operators of the installation see all organizations.",
  output: OrganizationList,
  run: async (ctx) => ({ items: await organizations.listOwnOrganizations(ctx) }),
});

export const getOrganization = people.get("/v1/organizations/{organization_id}", {
  summary: "Retrieve an organization",
  output: OrganizationDetail,
  run: (ctx, { organization_id }) => organizations.getOrganization(ctx, organization_id),
});

export const updateOrganization = people.patch("/v1/organizations/{organization_id}", {
  summary: "Rename an organization",
  description: "For organization admins.",
  body: OrganizationUpdate,
  example: { displayName: "Example" },
  output: OrganizationDetail,
  run: (ctx, { organization_id, body }) => organizations.changeOrganization(ctx, organization_id, body),
});

export const listOrganizationProjects = people.get("/v1/organizations/{organization_id}/projects", {
  summary: "List projects, including archived ones, oldest first",
  output: ProjectList,
  run: async (ctx, { organization_id }) => ({ items: await organizations.projectsOf(ctx, organization_id) }),
});

export const createProject = people.post("/v1/organizations/{organization_id}/projects", {
  summary: "Create a project",
  description:
    "For organization admins. The project starts with the environments `development` and `production`, and the one you name.",
  body: ProjectCreate,
  example: { displayName: "Sea maps" },
  output: ProjectDetail,
  errors: ["InvalidInput", "PlanLimitReached"],
  run: (ctx, { organization_id, body }) => organizations.addProject(ctx, organization_id, body),
});

export const getProject = people.get("/v1/organizations/{organization_id}/projects/{project_id}", {
  summary: "Retrieve a project",
  output: ProjectDetail,
  run: (ctx, { organization_id, project_id }) => organizations.projectOf(ctx, organization_id, project_id),
});

export const updateProject = people.patch("/v1/projects/{project_id}", {
  summary: "Update a project and its environments",
  description:
    "For organization admins. Only the fields you send change. Environments with an `id` are updated and those without are added. The slug of an existing environment does not change, and at least one environment must stay active. An archived project or environment rejects work and changes from the next request on; its data can still be read, and running work finishes.",
  body: ProjectSettingsPatch,
  example: { displayName: "Sea maps" },
  output: ProjectDetail,
  errors: ["PlanLimitReached"],
  run: (ctx, { project_id, body }) => organizations.patchProject(ctx, project_id, body),
});

export const listEnvironments = people.get("/v1/projects/{project_id}/environments", {
  summary: "List a project's environments, including archived ones",
  output: EnvironmentList,
  run: async (ctx, { project_id }) => ({ items: await organizations.environmentsOf(ctx, project_id) }),
});

export const getApprovalRules = manage.get("/v1/projects/{project_id}/approval-rules", {
  summary: "Retrieve a project's approval rules",
  output: ApprovalRules,
  run: (ctx, { project_id }) => organizations.approvalRules(ctx, project_id),
});

export const setApprovalRules = manage.put("/v1/projects/{project_id}/approval-rules", {
  summary: "Set a project's approval rules",
  description:
    "For organization admins. A management key can make the rules stricter, but not raise or remove the threshold or stop requiring a different approver.",
  body: SetApprovalRules,
  example: { thresholdUsd: 5, requireDifferentApprover: true },
  output: ApprovalRules,
  run: (ctx, { project_id, body }) => organizations.setApprovalRules(ctx, project_id, body),
});

export const setExternalActions = manage.put("/v1/organizations/{organization_id}/external-actions", {
  summary: "Allow or refuse executions that call a provider",
  description: "For organization owners. A management key can turn external actions off, but not on.",
  body: ExternalActions,
  example: { externalActions: false },
  output: ExternalActions,
  run: async (ctx, { organization_id, body }) => {
    const { externalActions } = await organizations.setExternalActions(
      ctx,
      organization_id,
      body.externalActions,
    );
    return { externalActions };
  },
});
