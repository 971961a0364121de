import { serve } from "@/server/api/next";
import { setExternalActions } from "@/server/operations/organizations";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(setExternalActions);
