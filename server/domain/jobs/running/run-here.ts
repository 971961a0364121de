import { type Capability, CapabilityFault } from "@/server/capabilities/define";
import type { Ctx } from "@/server/domain/ctx";
import { type AbortReason, type Ending, ending, failed, nothingSent } from "@/server/domain/executions";
import { readSources, toFault } from "@/server/domain/quotes";
import type { Json } from "@/server/platform/durable/step";
import { Fault } from "@/server/platform/errors/errors";
import { OutOfTime } from "@/server/platform/threads/threads";
import { type Kept, NOTHING } from "../ending/ending";
import { type JobRow, reachOf } from "../rows";
import { storeFiles, toOutput } from "./output";

/**
 * Runs a capability that needs no provider, and returns its ending. Throws only if the signal was aborted for
 * a reason other than the deadline.
 */
export async function runHere(
  ctx: Ctx,
  { capability, input, job }: { capability: Capability; input: unknown; job: JobRow },
  signal: AbortSignal,
): Promise<{ ending: Ending; kept: Kept }> {
  const execution = capability.execute;
  if (!("local" in execution)) throw new Error(`${capability.key} does not run here`);
  try {
    const files = await readSources(reachOf(job), capability, input);
    const outcome = await execution.run(input, signal, files);
    const now = ctx.now();
    const artifacts = await storeFiles(job, outcome.files, now);
    const { media } = outcome;
    return {
      ending: ending("ran_here", nothingSent, { state: "succeeded", ...(media ? { media } : {}) }),
      kept: { output: toOutput(job, outcome.typedOutput, artifacts, now), artifacts },
    };
  } catch (cause) {
    const why: AbortReason | null = signal.aborted ? signal.reason : null;
    if (why === "deadline") {
      const message = `The execution did not finish within ${job.execution_seconds} seconds.`;
      return { ending: failed("timed_out_unsent", message, nothingSent), kept: NOTHING };
    }
    if (why) throw cause;
    const fault = faultOf(cause);
    if (!fault) ctx.log.error({ err: cause, jobId: job.id }, "a local capability failed");
    const { code, message, details } = fault ?? BROKEN;
    const refused = failed("ran_here", message, nothingSent, {
      code,
      ...(Object.keys(details).length > 0 ? { details: details as Record<string, Json> } : {}), // plain data
    });
    return { ending: refused, kept: NOTHING };
  }
}

const BROKEN = new Fault(
  "InternalFailure",
  "The capability failed and the failure was logged. Report the execution id to the operator.",
  {},
);

/** The wait in seconds that is advised before a retry of work that ran out of time. */
const RETRY_SECONDS = 2;

/** The fault with which the work was refused; null if the capability broke. */
function faultOf(cause: unknown): Fault | null {
  if (cause instanceof CapabilityFault) return toFault(cause);
  if (cause instanceof OutOfTime)
    return new Fault("ServiceUnavailable", `${cause.message} Nothing was charged. Retry the request.`, {
      retryAfterSeconds: RETRY_SECONDS,
    });
  return cause instanceof Fault ? cause : null;
}
