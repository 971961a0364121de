import { serve } from "@/server/api/next";
import { listBudgets, setBudget } from "@/server/operations/budgets";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listBudgets, setBudget);
