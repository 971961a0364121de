import { serve } from "@/server/api/next";
import { createPanelSession } from "@/server/operations/panels";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createPanelSession);
