import { endpoints } from "@/server/operations";
import { etagOf, publishedDocument } from "../answers/published";
import type { Incoming, Outgoing } from "../transport";
import { openapi } from "./openapi";

let ready: { text: string; etag: string } | undefined;

/** The OpenAPI document of this build, as text. */
export function documentText(): { text: string; etag: string } {
  if (!ready) {
    const text = JSON.stringify(openapi(endpoints));
    ready = { text, etag: etagOf(text) };
  }
  return ready;
}

/** `/openapi.json`. */
export async function documentAnswer(incoming: Incoming): Promise<Outgoing> {
  const { text, etag } = documentText();
  return publishedDocument(incoming, text, { etag });
}
