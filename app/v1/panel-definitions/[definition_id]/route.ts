import { serve } from "@/server/api/endpoint";
import { changePanelDefinition, getPanelDefinition } from "@/server/api/v1/panels";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  changePanelDefinition,
  getPanelDefinition,
);
