import { serve } from "@/server/api/next";
import { getApprovalRules, setApprovalRules } from "@/server/operations/organizations";

export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = serve(getApprovalRules, setApprovalRules);
