import type { Step } from "@/server/platform/durable/step";

/** The outcome of one attempt: ended, or to be retried after so long. */
export type RetryResult = { state: "ended" } | { state: "again"; afterMs: number };

/** Each wait is up to a tenth longer or shorter, so that what failed together does not come back together. */
const JITTER = 0.1;

/** A run that wakes a little too early waits; one that finds its work due much later leaves it to the rows. */
const MOST_EARLY_MS = 10_000;

/** The flow of something that is tried until it is done or given up. What each try may do, its row decides. */
export async function retryUntilTerminal(step: Step, attempt: () => Promise<RetryResult>): Promise<void> {
  await untilEnded(
    (turn) => step.run(`attempt-${turn}`, attempt),
    (ms, turn) => step.sleep(`wait-${turn}`, ms),
  );
}

/** One turn after the other, from the first, with the waits between them that they ask for. Answers with the last one. */
export async function untilEnded<Last extends { state: string }>(
  take: (turn: number) => Promise<Last | { state: string; afterMs: number }>,
  wait: (ms: number, turn: number) => Promise<unknown>,
): Promise<Last> {
  for (let turn = 1; ; turn++) {
    const next = await take(turn);
    if (!("afterMs" in next)) return next;
    await wait(next.afterMs, turn);
  }
}

/** For a try that found nothing to do: when it is due soon after all. Null: not any more, or not by this run. */
export function whenDue(dueAt: Date | null, now: Date): RetryResult {
  const earlyMs = dueAt ? dueAt.getTime() - now.getTime() : Number.POSITIVE_INFINITY;
  return earlyMs <= MOST_EARLY_MS ? { state: "again", afterMs: Math.max(earlyMs, 0) } : { state: "ended" };
}

export function jittered(waitMs: number): number {
  return Math.round(waitMs * (1 + JITTER * (2 * Math.random() - 1)));
}
