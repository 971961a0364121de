import { serve } from "@/server/api/endpoint";

// No endpoint: whatever no other route of /v1 takes is answered as not found, in the API's own form.
export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve();
