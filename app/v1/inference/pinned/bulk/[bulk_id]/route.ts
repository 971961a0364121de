import { serve } from "@/server/api/next";
import { getPinnedBulk } from "@/server/operations/pinned-bulks";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getPinnedBulk);
