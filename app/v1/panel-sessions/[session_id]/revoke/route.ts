import { serve } from "@/server/api/next";
import { revokePanelSession } from "@/server/operations/embeds";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(revokePanelSession);
