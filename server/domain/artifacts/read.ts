import { artifactStore } from "./store";

/** All bytes of a kept file, in memory: for files that are known to be small enough. */
export async function readWhole(sha256: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of await artifactStore().open(sha256)) pieces.push(piece);
  return Buffer.concat(pieces);
}
