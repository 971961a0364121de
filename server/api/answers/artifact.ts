import { type Incoming, type Outgoing, raw } from "@/server/api/endpoint";
import { download } from "@/server/domain/artifacts";
import { Fault } from "@/server/platform/errors/errors";

/** The bytes of an artifact, or the requested range, with the headers of every download. */
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

/** The media types of an artifact download: any type, and by name those that capabilities produce. */
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
