import { serve } from "@/server/api/next";
import { redeemDeviceLogin } from "@/server/operations/auth";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(redeemDeviceLogin);
