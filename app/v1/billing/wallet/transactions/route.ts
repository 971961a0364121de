import { serve } from "@/server/api/next";
import { listWalletTransactions } from "@/server/operations/billing";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(listWalletTransactions);
