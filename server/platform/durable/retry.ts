import type { Step } from "@/server/platform/durable/step";

/** The outcome of one attempt: ended, or to be repeated after `afterMs`. */
export type RetryResult = { state: "ended" } | { state: "again"; afterMs: number };

/** Each wait is up to a tenth longer or shorter, so that attempts that failed together do not return together. */
const JITTER = 0.1;

/** A run that wakes up to this much too early waits; one whose work is due later ends, and leaves the work to its row. */
const MOST_EARLY_MS = 10_000;

/** Repeats an attempt until it ends. The attempt's row decides what each one may do. */
export async function retryUntilTerminal(step: Step, attempt: () => Promise<RetryResult>): Promise<void> {
  await untilEnded(
    (turn) => step.run(`attempt-${turn}`, attempt),
    (ms, turn) => step.sleep(`wait-${turn}`, ms),
  );
}

/** Takes turns, numbered from 1, with the waits that they return; returns the first one without `afterMs`. */
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

/**
 * For an attempt that found nothing to do: repeats it if it is due soon. A null `dueAt` means that the attempt is never due, or not
 * for this run.
 */
export function whenDue(dueAt: Date | null, now: Date): RetryResult {
  const earlyMs = dueAt ? dueAt.getTime() - now.getTime() : Number.POSITIVE_INFINITY;
  return earlyMs <= MOST_EARLY_MS ? { state: "again", afterMs: Math.max(earlyMs, 0) } : { state: "ended" };
}

/** Varies a wait by up to a tenth, in milliseconds. */
export function jittered(waitMs: number): number {
  return Math.round(waitMs * (1 + JITTER * (2 * Math.random() - 1)));
}
