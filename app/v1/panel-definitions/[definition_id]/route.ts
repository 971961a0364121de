import { serve } from "@/server/api/next";
import { changePanelDefinition, getPanelDefinition } from "@/server/operations/embeds";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  changePanelDefinition,
  getPanelDefinition,
);
