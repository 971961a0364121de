import type { SubmissionState } from "@/server/providers/define";
import {
  type Answer,
  type Ending,
  ending,
  type Failed,
  failed,
  LOST,
  lostAfter,
  type NewEnding,
  type NoAnswer,
  nothingSent,
  type Pending,
  type Refused,
  unavailable,
} from "./call-outcome";
import { rowOf } from "./outcomes";

/*
 * The decisions about an execution, as functions of facts alone: they wait for nothing and read no clock. `apply` (turn.ts)
 * has the driver of a job or of a pinned execution write down what was decided about a call.
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
  | { to: "ended"; ending: Failed; exhausted?: Refused }
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
        : { to: "ended", ending: outcome };
    case "retryable":
      return afterRefusal(facts, outcome, backoff);
    case "aborted": {
      const isSent = outcome.submission !== "not_attempted";
      const observed = isSent ? lostAfter(nothingSent) : nothingSent;
      switch (outcome.why) {
        case "lease_lost":
          return { to: "left", isUnsent: !isSent };
        case "canceled":
          return { to: "ended", ending: failed(isSent ? "canceled" : "canceled_unsent", null, observed) };
        case "deadline":
          return isSent ? { to: "ended", ending: timedOut(facts) } : afterUnsentDeadline(facts, backoff);
        case "shutdown":
          if (facts.isTaken) return { to: "left", isUnsent: false };
          return isSent ? { to: "ended", ending: failed("lost", LOST, observed) } : { to: "queued" };
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
  if (refused.isInternal) return { to: "ended", ending: unavailable(refused.message) };
  return { to: "ended", ending: exhausted(refused, afterMs), exhausted: refused };
}

const timedOut = ({ limit }: Facts): Failed =>
  failed("timed_out", limit.message, { ...nothingSent, submission: "attempted" });

/** The time of an execution has ended for good; that of one submission only refuses this one. */
function afterUnsentDeadline(
  facts: Facts,
  backoff: Backoff,
): Extract<Transition<never>, { to: "waiting" | "ended" }> {
  const { of, message } = facts.limit;
  if (of === "execution") return { to: "ended", ending: failed("timed_out_unsent", message, nothingSent) };
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

/** What the rows of an execution say of its last call. `answered`: its end, where its answer was stored. */
export type Found<Stored extends Ending = Ending> = {
  answered: Stored | null;
  submission: SubmissionState;
};

/**
 * The end of an execution that no call of this process ends: it is charged as its last call was answered, else by whether its
 * request may have left. A cancel has no code.
 */
export function endingFound<Stored extends Ending>(
  { answered, submission }: Found<Stored>,
  { code, message }: Pick<Ending, "code" | "message">,
): Stored | NewEnding {
  if (answered) return { ...answered, state: "failed", code, message };
  const [sent, unsent] =
    code === null ? (["canceled", "canceled_unsent"] as const) : (["lost", "stopped_unsent"] as const);
  const kind = submission === "not_attempted" ? unsent : sent;
  return ending(kind, { ...nothingSent, submission }, { code, message });
}

/**
 * Says what the next turn of a claimed execution does. `isHere`: it needs no provider. `isTaken`: the provider works on it
 * under a handle. `isKnownUnsent`: this process knows that its submission, which its rows show as begun, never left.
 */
export function decideTurn(
  found: Found & { isCanceling: boolean; isHere: boolean; isTaken: boolean; isKnownUnsent: boolean },
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
 * Says what becomes of an execution whose process is gone: the next one takes it on, or it ends. What may have run is never
 * sent again. `isTaken`: the provider works on it under a handle. `unsent`: how it ends if it was not sent; null: another
 * process may begin it.
 */
export function decideAbandoned<Stored extends Ending = Ending>(
  found: Found<Stored> & { isCanceling: boolean; isTaken: boolean; unsent: NewEnding | null },
): { to: "ended"; ending: Stored | NewEnding } | { to: "left" | "queued" } {
  const { answered, submission, isCanceling, isTaken, unsent } = found;
  if (isCanceling) return { to: "ended", ending: endingFound(found, CANCELED) };
  if (answered || isTaken) return { to: "left" };
  if (submission !== "not_attempted") return { to: "ended", ending: endingFound(found, LOST_CALL) };
  return unsent ? { to: "ended", ending: unsent } : { to: "queued" };
}

/** A cancel is no error. */
export const CANCELED = { code: null, message: null };
const LOST_CALL = { code: rowOf("lost").code, message: LOST };

/** A store that cannot be reached is tried so long, each time after as long a wait as it has lasted, before a person is asked. */
const OUTAGE_MS = 30 * 60_000;
const OUTAGE_WAITS_MS = { least: 5_000, most: 60_000 };

/**
 * Says what follows when a paid answer, or the work on its files, could not be stored: it is tried again here after one of
 * `waitsMs`, or by the next turn, or an operator decides. `outageMs`: how long the store has been out of reach; null: it is
 * not.
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
