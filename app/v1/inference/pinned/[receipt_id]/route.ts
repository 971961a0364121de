import { serve } from "@/server/api/next";
import { getPinned } from "@/server/operations/pins";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getPinned);
