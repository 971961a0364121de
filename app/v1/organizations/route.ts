import { serve } from "@/server/api/endpoint";
import { listOrganizations } from "@/server/operations/organizations";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listOrganizations);
