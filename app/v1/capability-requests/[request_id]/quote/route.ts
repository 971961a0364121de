import { serve } from "@/server/api/next";
import { getCommissionQuote } from "@/server/operations/requests";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getCommissionQuote);
