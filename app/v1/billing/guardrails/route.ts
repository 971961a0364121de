import { serve } from "@/server/api/endpoint";
import { getGuardrails, patchGuardrails } from "@/server/operations/budgets";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getGuardrails, patchGuardrails);
