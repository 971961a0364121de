import { serve } from "@/server/api/endpoint";
import { getPinned } from "@/server/api/v1/pins";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getPinned);
