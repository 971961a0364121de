import { serve } from "@/server/api/next";
import { resolveHold } from "@/server/operations/budgets";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(resolveHold);
