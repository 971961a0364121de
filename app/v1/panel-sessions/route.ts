import { serve } from "@/server/api/next";
import { createPanelSession } from "@/server/operations/embeds";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createPanelSession);
