import { sha256Hex } from "@/server/canonical";
import { VERSION } from "@/server/version";
import { openapi } from "./openapi";
import type { Incoming, Outgoing } from "./transport";
import { endpoints } from "./v1";

let ready: { text: string; etag: string } | undefined;

/** The OpenAPI document of this build, as text. */
export function documentText(): { text: string; etag: string } {
  if (!ready) {
    const text = JSON.stringify(openapi(endpoints));
    ready = { text, etag: `"${sha256Hex(text).slice(0, 32)}"` };
  }
  return ready;
}

/** `/openapi.json`. */
export async function documentAnswer(incoming: Incoming): Promise<Outgoing> {
  const { text, etag } = documentText();
  const headers = {
    "content-type": "application/json",
    "cache-control": "public, max-age=60",
    "access-control-allow-origin": "*", // a public document that tools in browsers read
    "x-capstan-version": VERSION,
    etag,
  };
  if (incoming.header("if-none-match") === etag) return { status: 304, headers, body: null };
  return { status: 200, headers, body: text };
}
