import { artifactAnswer } from "@/server/auth/artifact-answer";
import { answered } from "@/server/auth/guard";

type Context = { params: Promise<{ jobId: string; artifactId: string }> };

/** An artifact of a job, for the person whose session the request carries. */
export async function GET(request: Request, { params }: Context): Promise<Response> {
  const { jobId, artifactId } = await params;
  return answered(() => artifactAnswer(request, jobId, artifactId));
}
