import type { ByteRange } from "./range";

/** What is in the store: the content's name and its size in bytes. */
export type Stored = { sha256: string; byteLength: number };

export type PutOptions = { maxBytes?: number; beforeKept?(stored: Stored): Promise<void> };

/**
 * Bytes under the SHA-256 (64 lower-case hex digits) of their content. The store knows no tenant and no row: a row
 * is written after `put` answered and read before `open` is asked, so access is decided there.
 */
export type ArtifactStore = {
  /**
   * Keeps the bytes. When this answers they are durable: they survive a crash of the process and of the machine.
   * The same content again, also at the same time, is the same object with its age renewed. Above `maxBytes`:
   * PayloadTooLarge; when the source throws, that error. Nothing is left behind by either, and memory does not
   * grow with the size of a stream. `beforeKept` is asked when all bytes came and before they are under their name:
   * a row may be written there, so that a crash leaves no bytes that no row names; what it throws refuses them.
   */
  put(source: Uint8Array | AsyncIterable<Uint8Array>, options?: PutOptions): Promise<Stored>;
  /**
   * The bytes, or one range of them. NotFound when there are none under this name; RangeNotSatisfiable when the
   * range begins after the last byte; an end after the last byte means the last byte. Read to the end
   * or leave the loop (`return()`): until then a file or a connection is held.
   */
  open(sha256: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array>>;
  /** Size and time of the last `put` of this content, or null. */
  stat(sha256: string): Promise<{ byteLength: number; storedAt: Date } | null>;
  /**
   * Deletes; nothing there is fine. Content is shared by everybody who put it: the caller knows that no row names
   * it, and leaves young objects alone (`storedAt`), because their row may be about to be written.
   */
  remove(sha256: string): Promise<void>;
  /** Deletes what puts that died before this time left behind; answers how many. Choose a time no put lasts. */
  sweepTemporary(olderThan: Date): Promise<number>;
};
