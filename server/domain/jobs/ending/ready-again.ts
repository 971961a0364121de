import { Fault, ValidationFault } from "@/server/platform/errors/errors";
import type { AttemptRow, JobRow } from "../rows";
import { keptOf, workOf } from "../running/stages";
import { loadWork, makeReady, type ReadyWork } from "../running/work";

/**
 * The call of an attempt as it was sent; null if its request was removed or the call can no longer be made.
 */
export async function readyAgain(job: JobRow, row: AttemptRow): Promise<ReadyWork | null> {
  const loaded = (await loadWork(job.id))?.work;
  if (!loaded) return null;
  const work = workOf(loaded, row);
  return makeReady(work, await keptOf(work)).catch((cause) => {
    if (cause instanceof Fault || cause instanceof ValidationFault) return null;
    throw cause;
  });
}
