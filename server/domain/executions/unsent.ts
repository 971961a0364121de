import { isDatabaseOutage } from "@/server/platform/errors/outage";
import { log } from "@/server/platform/log/log";

/*
 * What a process knows and the rows do not say (yet): that an execution of its own was never sent. The rows may say that it
 * may have been, because its lease was lost before anything left, or may yet come to say so, because its admission was not
 * answered and is committed later. So it is remembered until the rows are right, for as long as one can follow the other.
 */

const REMEMBERED_MS = 5 * 60_000;
const LOOK_MS = 1_000;
/** The newest are worth more than the oldest, of which most are corrected by then. */
const MOST = 10_000;

/** Makes the rows right. False: there is nothing to correct yet, or it could not be. */
type Correct = () => Promise<boolean>;

const known = new Map<string, { correct: Correct; until: number }>();
let isLooking = false;

/** Corrects the rows of an execution that was never sent: now, or as soon as that is possible. Never rejects. */
export async function correctUnsent(executionId: string, correct: Correct): Promise<void> {
  known.delete(executionId); // its place is that of the newest
  if (known.size >= MOST) known.delete(known.keys().next().value ?? "");
  known.set(executionId, { correct, until: performance.now() + REMEMBERED_MS });
  if ((await tryOnce(executionId)) !== "done") lookAgain();
}

/** Does this process know that the execution was never sent, and the rows may say otherwise? */
export const isKnownUnsent = (executionId: string): boolean => known.has(executionId);

/** What it knew is in the rows now, or was sent after all: by the worker that went on with it. */
export const forgetUnsent = (executionId: string): boolean => known.delete(executionId);

async function tryOnce(executionId: string): Promise<"done" | "not_yet" | "outage"> {
  const one = known.get(executionId);
  if (!one) return "done";
  try {
    if (!(await one.correct())) return "not_yet";
    known.delete(executionId);
    return "done";
  } catch (cause) {
    log.warn({ err: cause, executionId }, "an execution that was never sent could not be corrected yet");
    return isDatabaseOutage(cause) ? "outage" : "not_yet";
  }
}

/** Looks again while anything is known; one look at a time, so that an outage gathers no statements. */
function lookAgain(): void {
  if (isLooking) return;
  isLooking = true;
  const look = async () => {
    for (const [executionId, { until }] of known) {
      if (performance.now() > until) known.delete(executionId);
      else if ((await tryOnce(executionId)) === "outage") break;
    }
    isLooking = false;
    if (known.size > 0) lookAgain();
  };
  setTimeout(() => void look(), LOOK_MS).unref();
}
