import { serve } from "@/server/api/endpoint";
import { createProject, listOrganizationProjects } from "@/server/operations/organizations";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  createProject,
  listOrganizationProjects,
);
