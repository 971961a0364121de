import { serve } from "inngest/next";
import { inngest } from "@/inngest/client";
import { functions } from "@/inngest/functions/registry.gen";
import { env, publicUrl, usesInngestServer } from "@/server/env";

// Where a real Inngest server calls the functions; signed with INNGEST_SIGNING_KEY.
const called = serve({
  client: inngest,
  functions,
  // The address the server is told to call: ours as the world sees it, or another one where the two share a network.
  serveOrigin: env.INNGEST_SERVE_ORIGIN ?? publicUrl,
});

export const dynamic = "force-dynamic"; // what is configured counts when it runs, not when it was built

// With the embedded engine nobody has a reason to call, and in development such calls would be believed unsigned.
const nothing = () =>
  Response.json({ detail: { code: "NotFound", message: "Nothing is here." } }, { status: 404 });

export const { GET, POST, PUT } = usesInngestServer ? called : { GET: nothing, POST: nothing, PUT: nothing };
