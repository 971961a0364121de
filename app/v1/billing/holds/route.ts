import { serve } from "@/server/api/next";
import { listHolds } from "@/server/operations/budgets";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listHolds);
