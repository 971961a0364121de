import { serve } from "@/server/api/next";
import { setBillingCurrency } from "@/server/operations/billing";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(setBillingCurrency);
