import { artifactAnswer } from "@/server/auth/artifact-answer";
import { answered } from "@/server/auth/guard";

type Context = { params: Promise<{ jobId: string; artifactId: string }> };

/** A job's artifact, for the person of the request's session. */
export async function GET(request: Request, { params }: Context): Promise<Response> {
  const { jobId, artifactId } = await params;
  return answered(() => artifactAnswer(request, jobId, artifactId));
}
