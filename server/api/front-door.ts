import { sha256Hex } from "@/server/canonical";
import { llmsText, manifest } from "@/server/domain/diagnostics";
import { jsonAnswer } from "./plain";
import type { Incoming, Outgoing } from "./transport";

const PUBLIC = {
  "cache-control": "public, max-age=60",
  "access-control-allow-origin": "*", // public documents that tools in browsers read
};

/** `/.well-known/capstan.json`. */
export async function manifestAnswer(incoming: Incoming): Promise<Outgoing> {
  return published(incoming, JSON.stringify(manifest()), {});
}

/** `/llms.txt`. */
export async function llmsAnswer(incoming: Incoming): Promise<Outgoing> {
  return published(incoming, llmsText(), { "content-type": "text/plain; charset=utf-8" });
}

function published(incoming: Incoming, text: string, more: Record<string, string>): Outgoing {
  const headers = { ...PUBLIC, ...more, etag: `"${sha256Hex(text).slice(0, 32)}"` };
  const isKnown = incoming.header("if-none-match") === headers.etag;
  return jsonAnswer(incoming, isKnown ? 304 : 200, isKnown ? null : text, headers);
}
