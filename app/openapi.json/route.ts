import { documentAnswer } from "@/server/api/document";
import { handlers } from "@/server/api/next";

export const dynamic = "force-dynamic";
export const { GET, HEAD } = handlers(documentAnswer);
