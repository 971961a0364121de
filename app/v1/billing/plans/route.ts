import { serve } from "@/server/api/next";
import { listPlans } from "@/server/operations/billing";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listPlans);
