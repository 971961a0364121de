import { createHash } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fail } from "@/server/platform/errors/errors";
import { StoreOutage } from "@/server/platform/errors/outage";
import { ulid } from "@/server/platform/ids";
import { isSha256, pieces } from "./pieces";
import { clampRange } from "./range";
import type { ArtifactStore } from "./store-port";

const PIECE_BYTES = 256 * 1024;

/**
 * Stores artifacts as files in this directory: `ab/cd/<sha256>`. A file appears under its name only when it
 * is complete and on disk: written to `tmp`, fsynced, renamed, and the rename fsynced with its directory.
 */
export function filesStore(directory: string): ArtifactStore {
  const root = resolve(directory);
  const temporary = join(root, "tmp");
  const inDirectory = directoriesOf(root);
  const pathOf = (sha256: string) => join(root, sha256.slice(0, 2), sha256.slice(2, 4), sha256);

  return {
    async put(source, options) {
      const path = join(temporary, ulid());
      const handle = await onDisk(() => inDirectory(temporary, () => open(path, "wx", 0o600)));
      const hash = createHash("sha256");
      let byteLength = 0;
      try {
        try {
          for await (const piece of pieces(source, PIECE_BYTES, options?.maxBytes)) {
            hash.update(piece);
            byteLength += piece.byteLength;
            await onDisk(() => handle.writeFile(piece)); // writes from the current position, to the last byte
          }
          await onDisk(() => handle.sync());
        } finally {
          await onDisk(() => handle.close());
        }
        const sha256 = hash.digest("hex");
        await options?.beforeKept?.({ sha256, byteLength });
        const home = dirname(pathOf(sha256));
        // The rename also replaces a file of the same content: it renews the age and heals a damaged disk
        // block.
        await onDisk(() => inDirectory(home, () => rename(path, pathOf(sha256))));
        await onDisk(() => syncDirectory(home));
        return { sha256, byteLength };
      } catch (error) {
        await unlink(path).catch(() => {}); // report the first error; the sweep removes the file
        throw error;
      }
    },

    async open(sha256, range) {
      const handle = isSha256(sha256) ? await onDisk(() => openIfThere(pathOf(sha256))) : null;
      if (!handle) fail("NotFound", "The artifact's content is not in the store.");
      try {
        const { size } = await onDisk(() => handle.stat());
        const part = range ? clampRange(range, size) : { start: 0, end: size - 1 };
        return read(handle, part.start, part.end + 1);
      } catch (error) {
        await handle.close();
        throw error;
      }
    },

    async stat(sha256) {
      if (!isSha256(sha256)) return null;
      try {
        const { size, mtime } = await stat(pathOf(sha256));
        return { byteLength: size, storedAt: mtime };
      } catch (error) {
        if (isMissing(error)) return null;
        throw outageOf(error);
      }
    },

    async remove(sha256) {
      if (!isSha256(sha256)) return;
      try {
        await unlink(pathOf(sha256));
        await syncDirectory(dirname(pathOf(sha256)));
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },

    async sweepTemporary(olderThan) {
      let swept = 0;
      for (const name of await namesIn(temporary)) {
        try {
          const path = join(temporary, name);
          if ((await stat(path)).mtime >= olderThan) continue;
          await unlink(path);
          swept++;
        } catch (error) {
          if (!isMissing(error)) throw error; // its put has ended meanwhile
        }
      }
      return swept;
    },
  };
}

/**
 * Returns a function that runs acts in directories below the root, each created before its first act in this
 * process.
 */
function directoriesOf(root: string) {
  const ready = new Set<string>();

  /**
   * Creates the directory and its parents, and fsyncs them. Once per process even if they exist, because
   * their creator may not have fsynced them yet.
   */
  async function prepare(directory: string): Promise<void> {
    if (ready.has(directory)) return;
    if (directory !== root) await prepare(dirname(directory));
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await syncDirectory(dirname(directory));
    ready.add(directory);
  }

  /** Runs the act in the directory, and once more if the directory was deleted since. */
  return async function inDirectory<T>(directory: string, act: () => Promise<T>): Promise<T> {
    await prepare(directory);
    try {
      return await act();
    } catch (error) {
      if (!isMissing(error)) throw error;
      ready.clear();
      await prepare(directory);
      return act();
    }
  };
}

/**
 * The bytes from start up to end (excluded); closes the file at the end, on an error and when the reader
 * leaves.
 */
function read(handle: FileHandle, start: number, end: number): AsyncIterableIterator<Uint8Array> {
  let at = start;
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= handle.close();
    return closing;
  };
  // Not a generator: returning a generator that never started runs none of its code, and the file would stay
  // open.
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      if (closing || at >= end) {
        await close();
        return { done: true, value: undefined };
      }
      try {
        const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, end - at));
        const { bytesRead } = await onDisk(() => handle.read(buffer, 0, buffer.byteLength, at));
        if (bytesRead === 0) throw new Error("An artifact's file is shorter than it was when opened.");
        at += bytesRead;
        return { done: false, value: buffer.subarray(0, bytesRead) };
      } catch (error) {
        await close();
        throw error;
      }
    },
    async return() {
      await close();
      return { done: true, value: undefined };
    },
  };
}

/** Runs a file operation; StoreOutage if the disk refuses it, being full, broken or not accessible. */
async function onDisk<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw outageOf(error);
  }
}

const outageOf = (cause: unknown) => new StoreOutage("The artifact directory cannot be used.", { cause });

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === "win32") return; // Windows cannot fsync directories; NTFS journals the rename
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
