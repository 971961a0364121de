import { sha256Hex } from "@/server/canonical";
import { llmsText, manifest } from "@/server/domain/diagnostics";
import { isKnown } from "./known";
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
  if (isKnown(incoming, headers.etag)) return jsonAnswer(incoming, 304, null, headers);
  return jsonAnswer(incoming, 200, text, headers);
}
