import { metricsAnswer } from "@/server/api/metrics";
import { handlers } from "@/server/api/next";

export const dynamic = "force-dynamic";
export const { GET, HEAD } = handlers(metricsAnswer);
