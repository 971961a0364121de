import { serve } from "@/server/api/next";
import { createTopUpSession } from "@/server/operations/billing";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createTopUpSession);
