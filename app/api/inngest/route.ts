import { serve } from "inngest/next";
import { inngest } from "@/inngest/client";
import { functions } from "@/inngest/functions/registry.gen";

// Where a real Inngest server calls the functions; signed with INNGEST_SIGNING_KEY. Unused with the embedded engine.
export const { GET, POST, PUT } = serve({ client: inngest, functions });
