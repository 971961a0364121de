import { serve } from "@/server/api/next";
import { getPanelSession } from "@/server/operations/embeds";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getPanelSession);
