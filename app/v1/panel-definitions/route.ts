import { serve } from "@/server/api/endpoint";
import { createPanelDefinition, listPanelDefinitions } from "@/server/operations/panels";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  createPanelDefinition,
  listPanelDefinitions,
);
