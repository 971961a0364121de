import { serve } from "@/server/api/endpoint";
import { revokePanelSession } from "@/server/operations/panels";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(revokePanelSession);
