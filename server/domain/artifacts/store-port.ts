import type { ByteRange } from "./range";

/** Stored content: its name and its size in bytes. */
export type Stored = { sha256: string; byteLength: number };

type PutOptions = { maxBytes?: number; beforeKept?(stored: Stored): Promise<void> };

/**
 * Stores bytes under the SHA-256 (64 lower-case hex digits) of their content. The store has no tenants and no
 * rows: a row is written after `put` returns and read before `open` is called, so access is decided there.
 */
export type ArtifactStore = {
  /**
   * Keeps the bytes. When this returns they are durable: they survive a crash of the process and of the
   * machine. Storing the same content again, even concurrently, renews the age of the same object.
   * PayloadTooLarge above `maxBytes`; if the source throws, that error. Neither leaves anything behind, and
   * memory does not grow with the size of a stream. `beforeKept` is called when all bytes have arrived and
   * before they are under their name: a row may be written there, so that a crash leaves no bytes without a
   * row. An error that it throws refuses the bytes.
   */
  put(source: Uint8Array | AsyncIterable<Uint8Array>, options?: PutOptions): Promise<Stored>;
  /**
   * The bytes, or one range of them. NotFound if there are none under this name; RangeNotSatisfiable if the
   * range begins after the last byte; an end after the last byte means the last byte. Read to the end or
   * leave the loop (`return()`): until then a file or a connection is held.
   */
  open(sha256: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array>>;
  /** Size and time of the last `put` of this content; null if it is not in the store. */
  stat(sha256: string): Promise<{ byteLength: number; storedAt: Date } | null>;
  /**
   * Deletes the content if it is there. Everyone who put it shares it: the caller makes sure that no row names
   * it, and leaves young objects alone (`storedAt`), because their row may be about to be written.
   */
  remove(sha256: string): Promise<void>;
  /**
   * Deletes what crashed puts left behind before this time, and returns the number. Choose a time longer ago
   * than any put takes.
   */
  sweepTemporary(olderThan: Date): Promise<number>;
};
