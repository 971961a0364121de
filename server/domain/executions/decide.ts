import type { SubmissionState } from "@/server/providers/define";
import {
  type CallAnswer,
  type CallFailed,
  type CallOutcome,
  type CallPending,
  type CallRefused,
  type Ending,
  ending,
  failed,
  LOST,
  lostAfter,
  type NewEnding,
  nothingSent,
  unavailable,
  unseen,
} from "./call-outcome";
import { rowOf } from "./outcomes";

/*
 * The decisions about an execution, as pure functions: they wait for nothing and read no clock. `apply`
 * (apply.ts) stores each decision about a call through the store of its job or pinned execution.
 */

/** The facts that a decision needs besides the outcome of the call. */
export type ExecutionFacts = {
  now: Date;
  /** A refused call has waited since `since` and may be sent again until `until`. */
  waits: { since: Date; until: Date };
  /**
   * The time limit that a deadline refers to, of the execution or of each submission, and its error message.
   */
  limit: { of: "execution" | "submission"; message: string };
  /** The provider works on it under a handle, so another process can poll for the result. */
  isTaken: boolean;
  /**
   * A caller waits for this process, so no other process continues the execution, and accepted work is not
   * polled.
   */
  isAwaited: boolean;
  /** The call requested a cheaper tier and may be sent again on the standard tier. */
  canFallBack: boolean;
};

export type Transition<A> =
  | { to: "answered"; answer: A }
  /** `exhausted`: the refusal that counts against the health of the route. */
  | { to: "ended"; ending: CallFailed; exhausted?: CallRefused }
  | { to: "waiting"; afterMs: number; refused: CallRefused }
  /** Sent again on the standard tier, because the provider refused the cheaper one. */
  | { to: "standard"; refused: CallFailed }
  /** `ending`: the end of an execution that is not polled; null if it is. */
  | { to: "taken"; pending: CallPending; ending: CallFailed | null }
  /** Put back for another process, because this one stops and nothing was sent. */
  | { to: "queued" }
  /**
   * Another process has claimed the execution or will claim it. `isUnsent`: this process sent nothing, so the
   * recorded submission is corrected.
   */
  | { to: "left"; isUnsent: boolean };

/**
 * Delay in milliseconds before a refused call is sent again, given its wait so far and the delay that the
 * provider asks for.
 */
type Backoff = (waitedMs: number, retryAfterMs: number | null) => number;

/** Decides what follows from the outcome of a call. */
export function decide<A extends { state: "succeeded" } = CallAnswer>(
  facts: ExecutionFacts,
  outcome: CallOutcome<A>,
  backoff: Backoff,
): Transition<A> {
  switch (outcome.state) {
    case "succeeded":
      return { to: "answered", answer: outcome };
    case "pending":
      return { to: "taken", pending: outcome, ending: facts.isAwaited ? failed("lost", TAKEN, lost) : null };
    case "failed":
      return facts.canFallBack && isTierRefused(outcome)
        ? { to: "standard", refused: outcome }
        : { to: "ended", ending: outcome };
    case "retryable":
      return afterRefusal(facts, outcome, backoff);
    case "aborted": {
      const isSent = outcome.submission !== "not_attempted";
      const observed = isSent ? lost : nothingSent;
      switch (outcome.why) {
        case "lease_lost":
          return { to: "left", isUnsent: !isSent };
        case "canceled":
          return { to: "ended", ending: failed(isSent ? "canceled" : "canceled_unsent", null, observed) };
        case "deadline":
          return isSent ? { to: "ended", ending: timedOut(facts) } : afterUnsentDeadline(facts, backoff);
        case "shutdown":
          if (facts.isTaken) return { to: "left", isUnsent: false };
          if (isSent) return { to: "ended", ending: failed("lost", LOST, observed) };
          return facts.isAwaited
            ? { to: "ended", ending: failed("stopped_unsent", STOPPED, nothingSent) }
            : { to: "queued" };
      }
    }
  }
}

/** The message of an end whose work goes on: the provider can still be asked for its cost, by the stored handle. */
const TAKEN = "The provider accepted the work and will answer later. Use a durable job for this model.";
export const STOPPED = "The process that ran this stopped.";
const lost = lostAfter(nothingSent);

/** A 400 that cost nothing may reject only the cheaper tier, not the request. */
const isTierRefused = ({ settlement, observed }: CallFailed) =>
  settlement === "released" && observed.httpStatus === 400;

/**
 * Nothing ran: the call is sent again within the window, or else the execution ends. A refusal of our own
 * does not count against the route.
 */
function afterRefusal(
  { now, waits: { since, until } }: ExecutionFacts,
  refused: CallRefused,
  backoff: Backoff,
): Extract<Transition<never>, { to: "waiting" | "ended" }> {
  const afterMs = backoff(now.getTime() - since.getTime(), refused.retryAfterMs);
  if (now.getTime() + afterMs <= until.getTime()) return { to: "waiting", afterMs, refused };
  if (refused.isInternal) return { to: "ended", ending: unavailable(refused.message) };
  return { to: "ended", ending: exhausted(refused, afterMs), exhausted: refused };
}

const timedOut = ({ limit }: ExecutionFacts): CallFailed =>
  failed("timed_out", limit.message, unseen("attempted"));

/** The time limit of an execution ends it; that of one submission only refuses the submission. */
function afterUnsentDeadline(
  facts: ExecutionFacts,
  backoff: Backoff,
): Extract<Transition<never>, { to: "waiting" | "ended" }> {
  const { of, message } = facts.limit;
  if (of === "execution") return { to: "ended", ending: failed("timed_out_unsent", message, nothingSent) };
  const reason = "unreachable";
  const refused: CallRefused = {
    state: "retryable",
    reason,
    retryAfterMs: null,
    message,
    observed: nothingSent,
  };
  return afterRefusal(facts, refused, backoff);
}

/** The failure of a call that would have to wait beyond its window. */
function exhausted({ reason, message, observed, said }: CallRefused, waitMs: number): CallFailed {
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

/** The last call of an execution as its rows show it. `answered`: its ending, if its answer was stored. */
export type FoundEnding<Stored extends Ending = Ending> = {
  answered: Stored | null;
  submission: SubmissionState;
};

/**
 * The ending of an execution without an outcome of a call in this process, such as after a cancel or a lost
 * process. A stored answer decides the charge; without one, the charge depends on whether the request may
 * have been sent. `code` is null for a cancel.
 */
export function endingFound<Stored extends Ending>(
  { answered, submission }: FoundEnding<Stored>,
  { code, message }: Pick<Ending, "code" | "message">,
): Stored | NewEnding {
  if (answered) return { ...answered, state: "failed", code, message };
  const [sent, unsent] =
    code === null ? (["canceled", "canceled_unsent"] as const) : (["lost", "stopped_unsent"] as const);
  const kind = submission === "not_attempted" ? unsent : sent;
  return ending(kind, unseen(submission), { code, message });
}

/**
 * Decides the next turn of a claimed execution. `isHere`: it needs no provider. `isTaken`: the provider works
 * on it under a handle. `isKnownUnsent`: its rows show a submission as begun, but this process knows that it
 * never left.
 */
export function decideTurn(
  found: FoundEnding & { isCanceling: boolean; isHere: boolean; isTaken: boolean; isKnownUnsent: boolean },
): { to: "ended"; ending: Ending } | { to: "stored" | "answered" | "here" | "released" | "polled" | "sent" } {
  const { answered, submission, isCanceling, isHere, isTaken, isKnownUnsent } = found;
  if (answered?.isSetAside && !isCanceling) return { to: "stored" };
  if (answered) return { to: "answered" };
  if (isCanceling) return { to: "ended", ending: endingFound(found, CANCELED) };
  if (isHere) return { to: "here" };
  if (isTaken) return { to: "polled" };
  if (submission === "not_attempted") return { to: "sent" };
  return isKnownUnsent ? { to: "released" } : { to: "ended", ending: endingFound(found, LOST_CALL) };
}

/**
 * Decides what becomes of an execution whose process is gone: the next process continues it, or it ends. A
 * request that may have run is never sent again. `isTaken`: the provider works on it under a handle.
 * `unsent`: its ending if it was not sent; null if another process may begin it.
 */
export function decideAbandoned<Stored extends Ending = Ending>(
  found: FoundEnding<Stored> & { isCanceling: boolean; isTaken: boolean; unsent: NewEnding | null },
): { to: "ended"; ending: Stored | NewEnding } | { to: "left" | "queued" } {
  const { answered, submission, isCanceling, isTaken, unsent } = found;
  if (isCanceling) return { to: "ended", ending: endingFound(found, CANCELED) };
  if (answered || isTaken) return { to: "left" };
  if (submission !== "not_attempted") return { to: "ended", ending: endingFound(found, LOST_CALL) };
  return unsent ? { to: "ended", ending: unsent } : { to: "queued" };
}

/** A cancel is not an error, so it has no code. */
export const CANCELED = { code: null, message: null };
const LOST_CALL = { code: rowOf("lost").code, message: LOST };

/**
 * An unreachable store is retried for this long before an operator decides. Each wait is as long as the
 * outage so far, within the limits below.
 */
const OUTAGE_MS = 30 * 60_000;
const OUTAGE_WAITS_MS = { least: 5_000, most: 60_000 };

/**
 * Decides what follows when a paid answer, or the work on its files, could not be stored: a retry here after
 * one of `waitsMs`, a retry by the next turn, or a decision by an operator. `outageMs`: how long the store
 * has been unreachable; null if it is reachable.
 */
export function decideUnstored(
  tried: number,
  waitsMs: readonly number[],
  outageMs: number | null,
): { to: "again" | "waiting"; afterMs: number } | { to: "aside" } {
  const afterMs = waitsMs[tried - 1];
  if (afterMs !== undefined) return { to: "again", afterMs };
  if (outageMs === null || outageMs >= OUTAGE_MS) return { to: "aside" };
  const { least, most } = OUTAGE_WAITS_MS;
  return { to: "waiting", afterMs: Math.min(Math.max(outageMs, least), most) };
}
