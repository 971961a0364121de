import type { Core, Schemas } from "./core";
import { CapstanError, IntegrityError } from "./errors";

/** The members of a listed artifact that a download needs. */
export type Artifact = Pick<Schemas["JobArtifactRef"], "artifactId" | "sha256" | "filename" | "mediaType">;

export type Download = {
  bytes: Uint8Array<ArrayBuffer>;
  mediaType: string;
  filename: string;
  sha256: string;
};

/** Requests an artifact. The bytes of the response are not verified. */
export function openArtifact(
  core: Pick<Core, "base" | "transport">,
  jobId: string,
  artifactId: string,
  signal?: AbortSignal,
): Promise<Response> {
  const [job, artifact] = [jobId, artifactId].map(encodeURIComponent);
  return core.transport(
    new Request(`${core.base}/v1/jobs/${job}/artifacts/${artifact}`, {
      credentials: "omit",
      signal: signal ?? null,
    }),
  );
}

/** Throws IntegrityError unless `sha256` (hexadecimal) is the hash that the receipt or job lists for the artifact. */
export function requireSealed(artifact: Pick<Artifact, "artifactId" | "sha256">, sha256: string): void {
  const sealed = artifact.sha256?.replace(/^sha256:/, "").toLowerCase();
  if (sealed === sha256) return;
  const facts = { artifactId: artifact.artifactId, sealed: sealed ?? null, downloaded: sha256 };
  if (!sealed)
    throw new IntegrityError(`${artifact.artifactId} cannot be verified: no SHA-256 is known for it.`, facts);
  throw new IntegrityError(
    `${artifact.artifactId} was changed: its SHA-256 is not the one that the receipt seals.`,
    facts,
  );
}

export async function downloadArtifact(
  core: Core,
  jobId: string,
  artifact: Artifact,
  signal?: AbortSignal,
): Promise<Download> {
  const response = await openArtifact(core, jobId, artifact.artifactId, signal);
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    if (signal?.aborted) throw cause;
    const facts = { status: 0, code: "Unreachable", retryable: true };
    throw new CapstanError(
      `The download of ${artifact.artifactId} was interrupted. Download it again.`,
      facts,
      { cause },
    );
  }
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const sha256 = [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  requireSealed(artifact, sha256);
  return {
    bytes,
    mediaType: response.headers.get("content-type") ?? artifact.mediaType,
    filename: artifact.filename ?? artifact.artifactId,
    sha256,
  };
}
