import { serve } from "@/server/api/endpoint";
import { createOnboardingSession } from "@/server/api/v1/connections";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(createOnboardingSession);
