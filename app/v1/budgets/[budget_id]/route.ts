import { serve } from "@/server/api/next";
import { removeBudget } from "@/server/operations/budgets";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(removeBudget);
