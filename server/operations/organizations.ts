import { endpoint } from "@/server/api/endpoint";
import { OrganizationPath } from "@/server/contract/credentials";
import {
  EnvironmentList,
  OrganizationDetail,
  OrganizationList,
  OrganizationProjectPath,
  OrganizationUpdate,
  ProjectCreate,
  ProjectDetail,
  ProjectList,
  ProjectPath,
  ProjectSettingsPatch,
} from "@/server/contract/projects";
import * as organizations from "@/server/domain/organizations";

const tags = ["Organizations and projects"];
const people = ["human_session"] as const;
const PATH = "/v1/organizations" as const;

export const listOrganizations = endpoint({
  method: "GET",
  path: PATH,
  summary: "List the organizations you belong to, oldest first",
  description: "Includes your role in each. Operators of the installation see all organizations.",
  tags,
  auth: people,
  output: OrganizationList,
  errors: [],
  run: async (ctx) => ({ items: await organizations.listOwnOrganizations(ctx) }),
});

export const getOrganization = endpoint({
  method: "GET",
  path: `${PATH}/{organization_id}`,
  summary: "Retrieve an organization",
  tags,
  auth: people,
  params: OrganizationPath,
  output: OrganizationDetail,
  errors: ["NotFound"],
  run: (ctx, { params }) => organizations.getOrganization(ctx, params.organization_id),
});

export const updateOrganization = endpoint({
  method: "PATCH",
  path: `${PATH}/{organization_id}`,
  summary: "Rename an organization",
  description: "For organization admins.",
  tags,
  auth: people,
  params: OrganizationPath,
  body: OrganizationUpdate,
  output: OrganizationDetail,
  errors: ["NotFound"],
  run: (ctx, { params, body }) => organizations.changeOrganization(ctx, params.organization_id, body),
});

export const listOrganizationProjects = endpoint({
  method: "GET",
  path: `${PATH}/{organization_id}/projects`,
  summary: "List projects, including archived ones, oldest first",
  tags,
  auth: people,
  params: OrganizationPath,
  output: ProjectList,
  errors: ["NotFound"],
  run: async (ctx, { params }) => ({ items: await organizations.projectsOf(ctx, params.organization_id) }),
});

export const createProject = endpoint({
  method: "POST",
  path: `${PATH}/{organization_id}/projects`,
  summary: "Create a project",
  description:
    "For organization admins. The project starts with the environments `development` and `production`, and the one you name.",
  tags,
  auth: people,
  params: OrganizationPath,
  body: ProjectCreate,
  output: ProjectDetail,
  errors: ["NotFound", "InvalidInput", "PlanLimitReached"],
  run: (ctx, { params, body }) => organizations.addProject(ctx, params.organization_id, body),
});

export const getProject = endpoint({
  method: "GET",
  path: `${PATH}/{organization_id}/projects/{project_id}`,
  summary: "Retrieve a project",
  tags,
  auth: people,
  params: OrganizationProjectPath,
  output: ProjectDetail,
  errors: ["NotFound"],
  run: (ctx, { params }) => organizations.projectOf(ctx, params.organization_id, params.project_id),
});

export const updateProject = endpoint({
  method: "PATCH",
  path: "/v1/projects/{project_id}",
  summary: "Update a project and its environments",
  description:
    "For organization admins. Only the fields you send change. Environments with an `id` are updated and those without are added. The slug of an existing environment does not change, and at least one environment must stay active. An archived project or environment rejects work and changes from the next request on; its data can still be read, and running work finishes.",
  tags,
  auth: people,
  params: ProjectPath,
  body: ProjectSettingsPatch,
  output: ProjectDetail,
  errors: ["NotFound", "PlanLimitReached"],
  run: (ctx, { params, body }) => organizations.patchProject(ctx, params.project_id, body),
});

export const listEnvironments = endpoint({
  method: "GET",
  path: "/v1/projects/{project_id}/environments",
  summary: "List a project's environments, including archived ones",
  tags,
  auth: people,
  params: ProjectPath,
  output: EnvironmentList,
  errors: ["NotFound"],
  run: async (ctx, { params }) => ({ items: await organizations.environmentsOf(ctx, params.project_id) }),
});
