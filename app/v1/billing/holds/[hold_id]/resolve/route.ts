import { serve } from "@/server/api/endpoint";
import { resolveHold } from "@/server/operations/budgets";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(resolveHold);
