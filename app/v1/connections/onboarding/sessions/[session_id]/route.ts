import { serve } from "@/server/api/next";
import { getOnboardingSession } from "@/server/operations/connections";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getOnboardingSession);
