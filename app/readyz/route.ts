import { readyz } from "@/server/api/health";
import { handlers } from "@/server/api/next";

export const dynamic = "force-dynamic";
export const { GET, HEAD } = handlers(readyz);
