import { serve } from "@/server/api/next";
import { cancelPinnedBulk } from "@/server/operations/pinned-bulks";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(cancelPinnedBulk);
