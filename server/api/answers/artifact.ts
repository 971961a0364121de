import { type Incoming, type Outgoing, raw } from "@/server/api/endpoint";
import { download } from "@/server/domain/artifacts";
import { Fault } from "@/server/platform/errors/errors";

/**
 * Returns the artifact's bytes, the requested range, or 304 for a caller that has them, with the headers of a download.
 * Throws PreconditionFailed (412) and RangeNotSatisfiable (416).
 */
export async function artifactAnswer(
  artifact: { sha256: string; byte_length: number; media_type: string },
  incoming: Incoming,
  filename: string | null,
): Promise<Outgoing> {
  const answer = await download(
    {
      sha256: artifact.sha256,
      byteLength: artifact.byte_length,
      mediaType: artifact.media_type,
      filename,
    },
    {
      method: incoming.method,
      range: incoming.header("range"),
      ifMatch: incoming.header("if-match"),
      ifNoneMatch: incoming.header("if-none-match"),
      ifRange: incoming.header("if-range"),
    },
  );
  if (answer.status === 412) {
    throw new Fault(
      "PreconditionFailed",
      "This artifact is not the content that If-Match names. `details.etag` is its ETag.",
      { etag: answer.headers.etag ?? "" },
      { headers: answer.headers },
    );
  }
  if (answer.status !== 416) return answer;
  const { "content-length": _empty, ...headers } = answer.headers;
  throw new Fault(
    "RangeNotSatisfiable",
    "The requested range is outside this artifact. `details.byteLength` is its size.",
    { byteLength: artifact.byte_length },
    { headers },
  );
}

/**
 * The output of an artifact download: any media type, of which common ones are named, and the statuses for a range and
 * for unchanged bytes.
 */
export const DOWNLOAD = {
  output: raw("application/octet-stream"),
  also: [
    "image/png",
    "image/jpeg",
    "image/webp",
    "audio/mpeg",
    "audio/ogg",
    "model/gltf-binary",
    "application/json",
    "text/plain",
    "*/*",
  ].map(raw),
  partly: [206, 304],
} as const;
