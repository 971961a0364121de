import { llmsAnswer } from "@/server/api/front-door";
import { handlers } from "@/server/api/next";

export const dynamic = "force-dynamic";
export const { GET, HEAD } = handlers(llmsAnswer);
