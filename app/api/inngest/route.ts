import { serve } from "inngest/next";
import { inngest } from "@/inngest/sdk";
import { served } from "@/inngest/server";
import { env, publicUrl, usesInngestServer } from "@/server/platform/settings/env";

// An Inngest server calls the functions here; its calls are signed with INNGEST_SIGNING_KEY.
const called = serve({
  client: inngest,
  functions: served,
  // The address that the server calls: our public one, or another if both share a network.
  serveOrigin: env.INNGEST_SERVE_ORIGIN ?? publicUrl,
});

export const dynamic = "force-dynamic"; // the configuration is read at run time, not at build time

// Nothing calls this with the embedded engine, and in development the SDK would accept unsigned calls.
const nothing = () => Response.json({ detail: { code: "NotFound", message: "Not found." } }, { status: 404 });

export const { GET, POST, PUT } = usesInngestServer ? called : { GET: nothing, POST: nothing, PUT: nothing };
