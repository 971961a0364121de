import { Readable } from "node:stream";
import { download } from "@/server/domain/artifacts";
import * as jobs from "@/server/domain/jobs";
import { fail } from "@/server/errors";
import { panelCtx } from "./session";

/**
 * The bytes of an artifact for the panel: shown in place only where nothing in them can run (see download),
 * never to another site. AuthenticationFailed without a session; NotFound for what the person may not see.
 */
export async function artifactAnswer(request: Request, jobId: string, artifactId: string): Promise<Response> {
  const ctx = await panelCtx();
  if (ctx.principal.kind !== "human_session") fail("AuthenticationFailed", "Sign in to see this artifact.");
  const row = await jobs.artifact(ctx, jobId, artifactId);
  const { status, headers, body } = await download(
    { sha256: row.sha256, byteLength: row.byte_length, mediaType: row.media_type, filename: row.filename },
    {
      method: request.method,
      range: request.headers.get("range"),
      ifNoneMatch: request.headers.get("if-none-match"),
      ifRange: request.headers.get("if-range"),
    },
  );
  return new Response(body && (Readable.toWeb(Readable.from(body)) as ReadableStream<Uint8Array>), {
    // the same stream, named by Node's own types
    status,
    headers: { ...headers, "cross-origin-resource-policy": "same-origin", "referrer-policy": "no-referrer" },
  });
}
