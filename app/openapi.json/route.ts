import { handlers } from "@/server/api/next";
import { documentAnswer } from "@/server/api/openapi/document";

export const dynamic = "force-dynamic";
export const { GET, HEAD } = handlers(documentAnswer);
