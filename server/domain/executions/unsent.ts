import { isDatabaseOutage } from "@/server/platform/errors/outage";
import { log } from "@/server/platform/log/log";

/*
 * Remembers executions of this process that were never sent although their rows may say otherwise: a lease
 * was lost before anything left, or an admission that got no answer is committed later. The process remembers
 * them until the rows are correct, for at most five minutes.
 */

const REMEMBERED_MS = 5 * 60_000;
const LOOK_MS = 1_000;
/** The newest entries matter more than the oldest, most of which are corrected by then. */
const MOST = 10_000;

/** Corrects the rows. False if there is nothing to correct yet, or if the correction failed. */
type Correct = () => Promise<boolean>;

const known = new Map<string, { correct: Correct; until: number }>();
let isLooking = false;

/** Corrects the rows of an execution that was never sent: now, or as soon as possible. Never rejects. */
export async function correctUnsent(executionId: string, correct: Correct): Promise<void> {
  known.delete(executionId); // moves it to the newest place
  if (known.size >= MOST) known.delete(known.keys().next().value ?? "");
  known.set(executionId, { correct, until: performance.now() + REMEMBERED_MS });
  if ((await tryOnce(executionId)) !== "done") lookAgain();
}

/** True if this process knows that the execution was never sent, though its rows may say otherwise. */
export const isKnownUnsent = (executionId: string): boolean => known.has(executionId);

/** Forgets an execution whose rows are correct, or that may now be submitted again. */
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

/** Retries while anything is remembered. One round runs at a time, so an outage accumulates no statements. */
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
