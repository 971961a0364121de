import { serve } from "@/server/api/next";
import { createPanelDefinition, listPanelDefinitions } from "@/server/operations/embeds";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  createPanelDefinition,
  listPanelDefinitions,
);
