import { ProviderFault } from "./define";
import { bodyError } from "./ends";
import { type Explain, faultOfSaid } from "./faults";
import { type FileReply, type HttpIo, jsonOf } from "./http";

/**
 * Passes a file on unchanged. Throws for JSON in place of a file, whatever its media type, with the error that it
 * reports. Throws for other text if its media type is text or JSON.
 */
export function requireFile(
  reply: FileReply,
  io: HttpIo,
  { vendor, explain }: { vendor: string; explain: Explain },
): FileReply {
  const head = Buffer.from(reply.bytes.subarray(0, 64)).toString("latin1").trimStart();
  const json = /^[{["]/.test(head) ? jsonOf(reply, io) : undefined;
  if (json !== undefined) throw faultOfSaid(bodyError(json), reply, io, { explain });
  if (/^(application\/json|text\/)/.test(reply.mediaType) && /^[\t\n\r\x20-\x7e]+$/.test(head))
    throw new ProviderFault("failed", "attempted", `${vendor} returned no file.`, { status: reply.status });
  return reply;
}
