import { serve } from "@/server/api/next";
import { createProject, listOrganizationProjects } from "@/server/operations/organizations";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  createProject,
  listOrganizationProjects,
);
