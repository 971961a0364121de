import { serve } from "@/server/api/next";
import { listPinned, runPinned } from "@/server/operations/pins";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listPinned, runPinned);
