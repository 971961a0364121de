import { fail } from "@/server/platform/errors/errors";

/**
 * True if this is the name of an object: 64 lower-case hex digits. Nothing else may become a path or a key.
 */
export function isSha256(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

/**
 * Cuts the source into pieces of exactly `pieceBytes`, the last one shorter (none for an empty source). Two
 * buffers alternate, so a piece is valid until the piece after the next is requested. PayloadTooLarge as soon
 * as the source is known to hold more than `maxBytes`; any error closes the source.
 */
export async function* pieces(
  source: Uint8Array | AsyncIterable<Uint8Array>,
  pieceBytes: number,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (source instanceof Uint8Array) {
    if (source.byteLength > maxBytes) refuse(maxBytes);
    for (let at = 0; at < source.byteLength; at += pieceBytes) yield source.subarray(at, at + pieceBytes);
    return;
  }
  let filling: Buffer | undefined;
  let resting: Buffer | undefined;
  let filled = 0;
  let total = 0;
  for await (const chunk of source) {
    total += chunk.byteLength;
    if (total > maxBytes) refuse(maxBytes);
    for (let at = 0; at < chunk.byteLength; ) {
      filling ??= Buffer.allocUnsafeSlow(pieceBytes);
      const part = chunk.subarray(at, at + pieceBytes - filled);
      filling.set(part, filled);
      filled += part.byteLength;
      at += part.byteLength;
      if (filled < pieceBytes) continue;
      yield filling;
      [filling, resting] = [resting, filling];
      filled = 0;
    }
  }
  if (filling && filled > 0) yield filling.subarray(0, filled);
}

function refuse(maxBytes: number): never {
  fail("PayloadTooLarge", `The content is larger than the limit of ${maxBytes} bytes.`, { maxBytes });
}
