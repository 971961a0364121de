import { mcpRoute } from "@/server/api/mcp";
import { handlers } from "@/server/api/next";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = handlers(mcpRoute);
