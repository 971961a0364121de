import { serve } from "@/server/api/endpoint";
import { getOrganization, updateOrganization } from "@/server/api/v1/organizations";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getOrganization, updateOrganization);
