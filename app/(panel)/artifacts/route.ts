import { requireSameOrigin } from "@/server/api/own-page";
import { artifactUpload } from "@/server/auth/artifact-upload";
import { answered } from "@/server/auth/guard";

/** Accepts a file for a form's artifact field, from our own pages only. */
export function POST(request: Request): Promise<Response> {
  return answered(async () => {
    requireSameOrigin(request);
    return artifactUpload(request);
  });
}
