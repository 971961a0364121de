import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Artifact, requireSealed } from "../artifacts";
import type { Client } from "../client";

export type SavedFile = { artifactId: string; path: string; sha256: string };

/** Saves artifacts while they download; a file gets its name only after its hash was verified. */
export async function saveArtifacts(
  client: Client,
  jobId: string,
  artifacts: readonly Artifact[],
  directory: string,
): Promise<SavedFile[]> {
  await mkdir(directory, { recursive: true });
  const taken = new Set<string>();
  const saved: SavedFile[] = [];
  for (const artifact of artifacts) {
    const path = join(directory, nameOf(artifact, taken));
    const part = `${path}.part`;
    const hash = createHash("sha256");
    const [job, id] = [jobId, artifact.artifactId].map(encodeURIComponent);
    const response = await client.fetch(`/v1/jobs/${job}/artifacts/${id}`);
    const hashing = new Transform({
      transform(chunk, _, done) {
        hash.update(chunk);
        done(null, chunk);
      },
    });
    try {
      // The DOM's and Node's stream are the same object; only their types differ.
      const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
      await pipeline(body, hashing, createWriteStream(part));
      const sha256 = hash.digest("hex");
      requireSealed(artifact, sha256);
      await rename(part, path);
      saved.push({ artifactId: artifact.artifactId, path, sha256 });
    } finally {
      await rm(part, { force: true });
    }
  }
  return saved;
}

/** A unique name inside the folder, whatever name the service gives. */
function nameOf({ filename, artifactId }: Artifact, taken: Set<string>): string {
  const wanted = basename((filename ?? "").replaceAll("\\", "/")).replace(/[^\p{L}\p{N} ._()-]/gu, "_");
  const name = wanted === "" || /^\.+$/.test(wanted) ? artifactId : wanted;
  const end = extname(name);
  const free = taken.has(name) ? `${name.slice(0, name.length - end.length)}-${artifactId}${end}` : name;
  taken.add(free);
  return free;
}
