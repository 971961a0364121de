import { serve } from "@/server/api/endpoint";
import { bindConnection, listConnectionBindings } from "@/server/operations/connections";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(bindConnection, listConnectionBindings);
