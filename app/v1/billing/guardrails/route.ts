import { serve } from "@/server/api/next";
import { getGuardrails, patchGuardrails } from "@/server/operations/budgets";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getGuardrails, patchGuardrails);
