import { serve } from "@/server/api/next";
import { bindConnection, listConnectionBindings } from "@/server/operations/connections";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(bindConnection, listConnectionBindings);
