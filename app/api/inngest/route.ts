import { serve } from "inngest/next";
import { inngest } from "@/inngest/sdk";
import { served } from "@/inngest/server";
import { env, publicUrl, usesInngestServer } from "@/server/platform/settings/env";

// Where a real Inngest server calls the functions; signed with INNGEST_SIGNING_KEY.
const called = serve({
  client: inngest,
  functions: served,
  // The address the server calls: our public one, or another where both share a network.
  serveOrigin: env.INNGEST_SERVE_ORIGIN ?? publicUrl,
});

export const dynamic = "force-dynamic"; // the configuration is read at run time, not at build time

// With the embedded engine there is no caller, and in development unsigned calls would be accepted.
const nothing = () => Response.json({ detail: { code: "NotFound", message: "Not found." } }, { status: 404 });

export const { GET, POST, PUT } = usesInngestServer ? called : { GET: nothing, POST: nothing, PUT: nothing };
