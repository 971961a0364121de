import { storeArtifact } from "@/server/domain/inputs";
import { fail } from "@/server/errors";
import { panelCtx } from "./session";

/**
 * A file the person puts into a form: the verb of `POST /v1/artifacts`, for the session the request carries.
 * AuthenticationFailed without one; whether the person may is the verb's to say.
 */
export async function artifactUpload(request: Request): Promise<Response> {
  const ctx = await panelCtx();
  if (ctx.principal.kind !== "human_session") fail("AuthenticationFailed", "Sign in to upload a file.");
  const query = new URL(request.url).searchParams;
  const stored = await storeArtifact(
    ctx,
    {
      contentType: request.headers.get("content-type") ?? undefined,
      contentDisposition: undefined,
      contentLength: request.headers.get("content-length") ?? undefined,
      bytes: request.body ? read(request.body) : null,
    },
    {
      projectId: query.get("projectId") ?? undefined,
      filename: query.get("filename")?.slice(0, 255) || undefined,
    },
  );
  return Response.json(stored, { headers: { "cache-control": "no-store" } });
}

async function* read(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.releaseLock();
  }
}
