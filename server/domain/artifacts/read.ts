import { artifactStore } from "./store";

/** All bytes of a stored file, in memory; only for files that are known to be small. */
export async function readWhole(sha256: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of await artifactStore().open(sha256)) pieces.push(piece);
  return Buffer.concat(pieces);
}
