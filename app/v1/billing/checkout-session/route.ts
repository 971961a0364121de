import { serve } from "@/server/api/next";
import { createPlanCheckout } from "@/server/operations/billing";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createPlanCheckout);
