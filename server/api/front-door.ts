import { llmsText, manifest } from "@/server/domain/diagnostics";
import { publishedDocument } from "./published";
import type { Incoming, Outgoing } from "./transport";

/** `/.well-known/capstan.json`. */
export async function manifestAnswer(incoming: Incoming): Promise<Outgoing> {
  return publishedDocument(incoming, JSON.stringify(manifest()));
}

/** `/llms.txt`. */
export async function llmsAnswer(incoming: Incoming): Promise<Outgoing> {
  return publishedDocument(incoming, llmsText(), { "content-type": "text/plain; charset=utf-8" });
}
