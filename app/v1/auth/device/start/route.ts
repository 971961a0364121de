import { serve } from "@/server/api/endpoint";
import { startDeviceLogin } from "@/server/operations/auth";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(startDeviceLogin);
