import { serve } from "inngest/next";
import { inngest } from "@/inngest/client";
import { functions } from "@/inngest/functions/registry.gen";
import { env, publicUrl } from "@/server/env";

// Where a real Inngest server calls the functions; signed with INNGEST_SIGNING_KEY. Unused with the embedded engine.
export const { GET, POST, PUT } = serve({
  client: inngest,
  functions,
  // The address the server is told to call: ours as the world sees it, or another one where the two share a network.
  serveOrigin: env.INNGEST_SERVE_ORIGIN ?? publicUrl,
});
