import { sha256Hex } from "@/server/canonical";
import { endpoints } from "@/server/operations";
import { isKnown } from "./known";
import { openapi } from "./openapi";
import { jsonAnswer } from "./plain";
import type { Incoming, Outgoing } from "./transport";

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
    etag,
    "cache-control": "public, max-age=60",
    "access-control-allow-origin": "*", // a public document that tools in browsers read
  };
  if (isKnown(incoming, etag)) return jsonAnswer(incoming, 304, null, headers);
  return jsonAnswer(incoming, 200, text, headers);
}
