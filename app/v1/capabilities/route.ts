import { serve } from "@/server/api/next";
import { listCapabilities } from "@/server/operations/capabilities";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listCapabilities);
