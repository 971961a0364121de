import { handlers } from "@/server/api/next";
import { panelFiles } from "@/server/api/panel-files";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlers(panelFiles);
