import { serve } from "@/server/api/endpoint";
import { getOrganization, updateOrganization } from "@/server/operations/organizations";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getOrganization, updateOrganization);
