import { serve } from "@/server/api/endpoint";
import { createPanelLaunchCode } from "@/server/api/v1/panels";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createPanelLaunchCode);
