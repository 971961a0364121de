import { noteExhausted } from "./call";
import type { Failed, NoAnswer, Pending, Refused } from "./call-outcome";
import type { Call } from "./classify";
import { decide, type Facts } from "./decide";
import { backoffOf } from "./outcomes";

/**
 * Stores the decisions about an execution. Durable jobs, synchronous calls and pinned executions differ only
 * in their driver.
 */
export type Driver<Answer, Next> = {
  now(): Date;
  /** Null if no provider is called. */
  called: Pick<Call, "route" | "account"> | null;
  facts: Omit<Facts, "now">;
  keep(answer: Answer): Promise<Next>;
  end(failure: Failed): Promise<Next>;
  /** Nothing ran, and the call is sent again after this wait. */
  release(refused: Refused, waitMs: number): Promise<Next>;
  fallBack(refused: Failed): Promise<Next>;
  taken(pending: Pending): Promise<Next>;
  putBack(): Promise<Next>;
  leave(): Next;
  /** This process sent nothing, so the submission that another process assumed is corrected. */
  leaveUnsent(): Promise<Next>;
};

/** Decides what follows from the outcome of a call and has the driver store it. */
export async function apply<Answer extends { state: "succeeded" }, Next>(
  driver: Driver<Answer, Next>,
  outcome: Answer | Pending | NoAnswer,
): Promise<Next> {
  const now = driver.now();
  const transition = decide({ ...driver.facts, now }, outcome, backoffOf);
  switch (transition.to) {
    case "answered":
      return driver.keep(transition.answer);
    case "ended":
      if (transition.exhausted && driver.called)
        await noteExhausted(driver.called, transition.exhausted, now);
      return driver.end(transition.ending);
    case "waiting":
      return driver.release(transition.refused, transition.afterMs);
    case "standard":
      return driver.fallBack(transition.refused);
    case "taken":
      return driver.taken(transition.pending);
    case "queued":
      return driver.putBack();
    case "left":
      return transition.isUnsent ? driver.leaveUnsent() : driver.leave();
  }
}
