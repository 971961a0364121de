import { serve } from "@/server/api/next";
import { startDeviceLogin } from "@/server/operations/auth";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(startDeviceLogin);
