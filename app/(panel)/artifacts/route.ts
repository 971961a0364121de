import { artifactUpload } from "@/server/auth/artifact-upload";
import { answered } from "@/server/auth/guard";
import { requireSameOrigin } from "@/server/auth/same-origin";

/** Takes a file for an artifact field of a form, from our own pages only. */
export function POST(request: Request): Promise<Response> {
  return answered(async () => {
    requireSameOrigin(request);
    return artifactUpload(request);
  });
}
