import { refuseRequest } from "@/server/api/endpoint";
import { Fault } from "@/server/platform/errors/errors";
import { publishedDocument } from "./answers/published";
import { docsPages } from "./docs-pages";
import type { Incoming, Outgoing } from "./transport";

const MARKDOWN = { "content-type": "text/markdown; charset=utf-8" };

/** True for the address of a Markdown page. */
export const isDocsPath = (path: string): boolean => path.startsWith("/docs/") && path.endsWith(".md");

/** `/docs/….md`: a page as it is written, one page for each error code, and `/docs/index.md`, which lists them all. */
export async function docsAnswer(incoming: Incoming): Promise<Outgoing> {
  const text = (await docsPages()).get(incoming.path.slice("/docs/".length));
  if (text !== undefined) return publishedDocument(incoming, text, MARKDOWN);
  return refuseRequest(
    incoming,
    new Fault("NotFound", "This page does not exist. /docs/index.md lists the pages.", {}),
  );
}
