import { serve } from "@/server/api/next";
import { submitPinnedBulk } from "@/server/operations/pinned-bulks";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(submitPinnedBulk);
