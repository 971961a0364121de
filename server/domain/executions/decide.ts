import {
  type Answer,
  type Failed,
  failed,
  LOST,
  lostAfter,
  type NoAnswer,
  nothingSent,
  type Pending,
  type Refused,
  unavailable,
} from "./call-outcome";
import { rowOf } from "./outcomes";

/*
 * The decision about a call, as a function of facts alone: it waits for nothing and reads no clock. `apply` (turn.ts) has the
 * driver of a job or of a pinned execution write down what was decided.
 */

/** The facts of an execution that a decision needs beside the outcome of its call. */
export type Facts = {
  now: Date;
  /** A refused call has waited since the first, and may be sent again until the second. */
  waits: { since: Date; until: Date };
  /** The time limit that was reached: of the execution, or of each submission; and what its record says then. */
  limit: { of: "execution" | "submission"; message: string };
  /** The provider works on it under a handle, so another process can ask for the result. */
  isTaken: boolean;
  /** The call asked for a cheaper tier and may be sent again on the standard one. */
  canFallBack: boolean;
};

export type Transition<A> =
  | { to: "answered"; answer: A }
  /** `exhausted`: the refusal that counts against the health of the route. */
  | { to: "ended"; failure: Failed; exhausted?: Refused }
  | { to: "waiting"; afterMs: number; refused: Refused }
  /** Sent again on the standard tier, because the provider refused the cheaper one. */
  | { to: "standard"; refused: Failed }
  | { to: "taken"; pending: Pending }
  /** Put back for another process, because this one stops and nothing was sent. */
  | { to: "queued" }
  /** Another process has the execution, or will take it. `isUnsent`: this one had sent nothing, which corrects its record. */
  | { to: "left"; isUnsent: boolean };

/** How long a refused call waits before it is sent again, by how long it has waited and what the provider asks for. */
type Backoff = (waitedMs: number, retryAfterMs: number | null) => number;

/** Says what follows from the outcome of a call. */
export function decide<A extends { state: "succeeded" } = Answer>(
  facts: Facts,
  outcome: A | Pending | NoAnswer,
  backoff: Backoff,
): Transition<A> {
  switch (outcome.state) {
    case "succeeded":
      return { to: "answered", answer: outcome };
    case "pending":
      return { to: "taken", pending: outcome };
    case "failed":
      return facts.canFallBack && isTierRefused(outcome)
        ? { to: "standard", refused: outcome }
        : { to: "ended", failure: outcome };
    case "retryable":
      return afterRefusal(facts, outcome, backoff);
    case "aborted": {
      const isSent = outcome.submission !== "not_attempted";
      const observed = isSent ? lostAfter(nothingSent) : nothingSent;
      switch (outcome.why) {
        case "lease_lost":
          return { to: "left", isUnsent: !isSent };
        case "canceled":
          return { to: "ended", failure: failed(isSent ? "canceled" : "canceled_unsent", null, observed) };
        case "deadline":
          return isSent ? { to: "ended", failure: timedOut(facts) } : afterUnsentDeadline(facts, backoff);
        case "shutdown":
          if (facts.isTaken) return { to: "left", isUnsent: false };
          return isSent ? { to: "ended", failure: failed("lost", LOST, observed) } : { to: "queued" };
      }
    }
  }
}

/** A definite no to a request on a cheaper tier may be meant for the tier alone. */
const isTierRefused = ({ settlement, observed }: Failed) =>
  settlement === "released" && observed.httpStatus === 400;

/** Nothing ran: sent again inside the window, else ended. A refusal of our own is no fault of the route. */
function afterRefusal(
  { now, waits: { since, until } }: Facts,
  refused: Refused,
  backoff: Backoff,
): Extract<Transition<never>, { to: "waiting" | "ended" }> {
  const afterMs = backoff(now.getTime() - since.getTime(), refused.retryAfterMs);
  if (now.getTime() + afterMs <= until.getTime()) return { to: "waiting", afterMs, refused };
  if (refused.isInternal) return { to: "ended", failure: unavailable(refused.message) };
  return { to: "ended", failure: exhausted(refused, afterMs), exhausted: refused };
}

const timedOut = ({ limit }: Facts): Failed =>
  failed("timed_out", limit.message, { ...nothingSent, submission: "attempted" });

/** The time of an execution has ended for good; that of one submission only refuses this one. */
function afterUnsentDeadline(
  facts: Facts,
  backoff: Backoff,
): Extract<Transition<never>, { to: "waiting" | "ended" }> {
  const { of, message } = facts.limit;
  if (of === "execution") return { to: "ended", failure: failed("timed_out_unsent", message, nothingSent) };
  const reason = "unreachable";
  const refused: Refused = { state: "retryable", reason, retryAfterMs: null, message, observed: nothingSent };
  return afterRefusal(facts, refused, backoff);
}

/** The failure of a call that would have to wait longer than it may. */
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
