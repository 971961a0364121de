import { serve } from "@/server/api/next";

// Answers any other path of /v1 with the API's not-found error.
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve();
