import { index, llmsText, manifest } from "@/server/domain/diagnostics";
import { publishedDocument } from "./answers/published";
import type { Incoming, Outgoing } from "./transport";

/** `/.well-known/capstan.json`. */
export async function manifestAnswer(incoming: Incoming): Promise<Outgoing> {
  return publishedDocument(incoming, JSON.stringify(manifest()));
}

/** `/llms.txt`. */
export async function llmsAnswer(incoming: Incoming): Promise<Outgoing> {
  return publishedDocument(incoming, llmsText(), { "content-type": "text/plain; charset=utf-8" });
}

/**
 * True for `/` requested by a program. Browsers name HTML, and the panel's own navigation has the header `rsc`; programs name
 * another type, accept any or send no Accept header.
 */
export const wantsIndex = (incoming: Incoming): boolean =>
  incoming.path === "/" &&
  incoming.header("rsc") === undefined &&
  !incoming.header("accept")?.includes("text/html");

/** `/` for programs. */
export async function indexAnswer(incoming: Incoming): Promise<Outgoing> {
  return publishedDocument(incoming, JSON.stringify(index()), { vary: "accept" });
}
