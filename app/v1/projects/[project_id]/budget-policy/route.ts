import { serve } from "@/server/api/next";
import { getBudgetPolicy, putBudgetPolicy } from "@/server/operations/budgets";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getBudgetPolicy, putBudgetPolicy);
