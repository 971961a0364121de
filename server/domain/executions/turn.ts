import { noteExhausted } from "./call";
import {
  type Call,
  type Failed,
  failed,
  LOST,
  lostAfter,
  type NoAnswer,
  nothingSent,
  type Pending,
  type Refused,
} from "./classify";
import { backoffOf, rowOf } from "./outcomes";

/*
 * What follows from the outcome of a call: the end of its execution, another submission, or a look at what the provider
 * took on. Durable jobs, synchronous calls and pinned executions differ in how they write that down, not in the decision.
 */

/** How an execution writes down what was decided. */
export type Driver<Answer, Next> = {
  now(): Date;
  /** Null: no provider is called. */
  called: Pick<Call, "route" | "account"> | null;
  /** From when a refused call has waited, and until when it may be sent again. */
  waits: { since: Date; until: Date };
  /** Of which the time is limited, and what its record says where the limit was reached. */
  limit: { of: "execution" | "submission"; message: string };
  keep(answer: Answer): Promise<Next>;
  end(outcome: Failed): Promise<Next>;
  /** Nothing ran: sent again after this long. */
  release(refused: Refused, waitMs: number): Promise<Next>;
  /** The provider refused the tier alone; absent: no other is asked for. */
  fallBack?(refused: Failed): Promise<Next>;
  taken(pending: Pending): Promise<Next>;
  /** The process stops and nothing was sent. */
  putBack(): Promise<Next>;
  /** Another process has the execution, or will take it. */
  leave(): Next;
  /** The same before anything left: what that process made of it is to be corrected. */
  leaveUnsent(): Promise<Next>;
  /** The provider works on it, and another process can ask for the result. */
  isTaken: boolean;
};

/** Decides by the outcome of a call and has the driver write it down. */
export async function apply<Answer extends { state: "succeeded" }, Next>(
  driver: Driver<Answer, Next>,
  outcome: Answer | Pending | NoAnswer,
): Promise<Next> {
  switch (outcome.state) {
    case "succeeded":
      return driver.keep(outcome);
    case "failed":
      return driver.fallBack && isTierRefused(outcome) ? driver.fallBack(outcome) : driver.end(outcome);
    case "pending":
      return driver.taken(outcome);
    case "retryable": {
      const now = driver.now();
      const { since, until } = driver.waits;
      const waitMs = backoffOf(now.getTime() - since.getTime(), outcome.retryAfterMs);
      if (now.getTime() + waitMs <= until.getTime()) return driver.release(outcome, waitMs);
      if (outcome.isInternal) return driver.end(unavailable(outcome.message));
      if (driver.called) await noteExhausted(driver.called, outcome, now);
      return driver.end(exhausted(outcome, waitMs));
    }
    case "aborted": {
      const isSent = outcome.submission !== "not_attempted";
      const observed = isSent ? lostAfter(nothingSent) : nothingSent;
      switch (outcome.why) {
        case "lease_lost":
          return isSent ? driver.leave() : driver.leaveUnsent();
        case "canceled":
          return driver.end(failed(isSent ? "canceled" : "canceled_unsent", null, observed));
        case "deadline": {
          const { of, message } = driver.limit;
          if (isSent)
            return driver.end(failed("timed_out", message, { ...nothingSent, submission: "attempted" }));
          if (of === "execution") return driver.end(failed("timed_out_unsent", message, nothingSent));
          const reason = "unreachable";
          return apply(driver, {
            state: "retryable",
            reason,
            retryAfterMs: null,
            message,
            observed: nothingSent,
          });
        }
        case "shutdown":
          if (driver.isTaken) return driver.leave();
          return isSent ? driver.end(failed("lost", LOST, observed)) : driver.putBack();
      }
    }
  }
}

/** A definite no to a request on a cheaper tier may be meant for the tier alone. */
const isTierRefused = ({ settlement, observed }: Failed) =>
  settlement === "released" && observed.httpStatus === 400;

/** Why an execution ended that was never sent: for reasons of ours, which pass. */
export const unavailable = (why: string): Failed =>
  failed("unavailable_unsent", `${why} Nothing was sent to the provider.`, nothingSent, {
    details: { retryAfterSeconds: 5 },
  });

/** The wait for capacity ended. */
function exhausted({ reason, message, observed, said }: Refused, waitMs: number): Failed {
  const { submission } = rowOf(reason);
  return failed(
    reason,
    message,
    { ...observed, submission },
    {
      ...(said ? { said } : {}),
      ...(reason === "capacity" ? { details: { retryAfterSeconds: Math.ceil(waitMs / 1000) } } : {}),
    },
  );
}
