import { serve } from "@/server/api/next";
import { getOrganization, updateOrganization } from "@/server/operations/organizations";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getOrganization, updateOrganization);
