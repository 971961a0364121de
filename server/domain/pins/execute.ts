import { answerFlaw, sha256Hex } from "@/server/canonical";
import { type PinnedOutput, START_WINDOW_SECONDS } from "@/server/contract/pinned";
import {
  type AbortReason,
  apply,
  type Driver,
  type Failed,
  failed,
  kindOfResult,
  type Lease,
  nothingSent,
  rowOf,
  unusable,
} from "@/server/domain/executions";
import { failpoint } from "@/server/failpoint";
import { newId } from "@/server/ids";
import type { Tier } from "@/server/providers/define";
import { type Clock, sleep } from "./clock";
import { type Concluded, conclude, type End, endedAs, type Held } from "./conclude";
import { calledBy, type PinOutcome, submitOnce } from "./pin-sender";
import type { RecordRow } from "./record";
import { type PinnedAttemptRow, type PinnedContent, type PinnedPlan, submissionOf } from "./rows";
import { accountOf, type Target, targetOf } from "./target";
import { type AttemptEnd, beginAttempt, endAttempt } from "./transitions";

/** An execution that was claimed: running, leased to this process under `row.fence`. */
export type Work = {
  row: RecordRow & { fence: number };
  plan: PinnedPlan;
  content: PinnedContent;
  /** Submissions of whoever had it before; all of them have ended. */
  attempts: PinnedAttemptRow[];
  lease: Lease;
  clock: Clock;
  /** The vendor said that it has no capacity now. */
  onCapacity?(): void;
  /** Asked before each submission: false ends it without another one. */
  mayGoOn?(): boolean;
};

export type Result =
  | { state: "ended"; end: Concluded; told: Told }
  /** Stopped (by `mayGoOn` or a shutdown) before any of an item's submissions was answered: its row is still running. */
  | { state: "stopped" }
  /** The lease is lost: whoever has it now ends it. */
  | { state: "lost" };

/** What is told of a failure once, and is in no record: what the provider answered, and when to come again. */
export type Told = Pick<Failed, "said" | "details">;

/**
 * Carries an execution to its end. Every submission is written down before its first byte can leave; what the vendor
 * definitely did not take on is sent again inside the admission deadline, the same bytes each time; what may have run never.
 */
export async function execute(work: Work): Promise<Result> {
  const { plan, row, clock, lease, attempts: before } = work;
  const attempts = [...before];
  const beganAt = clock.elapsedMs();
  const headStartMs = Math.max(0, clock.now().getTime() - startOf(row).getTime());
  let retryWaitMs = waitsBetween(before);
  let providerExecutionMs: number | null = null;
  const held: Held = { row, plan, attempts, clock };

  const target = targetOf(plan);
  const bytes = target && bytesOf(target, work.content, plan.tier);
  const end = async (how: Ending, told: Told = {}): Promise<Result> => {
    const wallClockMs = Math.round(headStartMs + clock.elapsedMs() - beganAt);
    const clocks = { retryWaitMs: Math.round(retryWaitMs), providerExecutionMs, wallClockMs };
    const concluded = await conclude(held, { ...how, clocks });
    return concluded ? { state: "ended", end: concluded, told } : { state: "lost" };
  };
  if (!target || !bytes) return end(unsent("This installation no longer has the pinned provider or model."));
  const sentHash = sha256Hex(bytes);

  const deadline = new Date(startOf(row).getTime() + admissionMs(row, plan));
  for (;;) {
    if (isLost(lease)) return { state: "lost" };
    if (lease.signal.aborted || work.mayGoOn?.() === false) {
      const isNothing = row.bulk_id !== null && submissionOf(attempts) === "not_attempted";
      return isNothing
        ? { state: "stopped" }
        : end(unsent("The execution was stopped before the provider accepted it."));
    }
    const account = await accountOf(target, plan, { id: row.project_id, environment: row.environment });
    if (!account) return end(unsent("The provider account of this execution is no longer connected."));

    const attempt = opened(row.id, attempts.length + 1, sentHash, clock.now());
    if (
      !(await beginAttempt({
        ...under(row),
        attemptId: attempt.id,
        number: attempt.number,
        sentHash,
        now: attempt.started_at,
      }))
    )
      return { state: "lost" };
    attempts.push(attempt);
    failpoint("after-submission-begun");
    const sentAt = clock.elapsedMs();
    const outcome = await submitOnce({
      target,
      plan,
      account,
      bytes,
      pinnedId: row.id,
      stop: lease.answerSignal,
      clock,
    });
    const isOver = outcome.state === "succeeded" || outcome.state === "failed";
    if (isOver && outcome.observed.submission !== "not_attempted")
      providerExecutionMs = Math.round(clock.elapsedMs() - sentAt);
    failpoint("after-answer");
    /** Nothing ran: the same bytes may be sent again. */
    const release = async (ended: AttemptEnd, waitMs: number): Promise<Next> => {
      attempts[attempts.length - 1] = endedAs(attempt, ended);
      return (await endAttempt({ ...under(row), attempt: ended }))
        ? { state: "again", waitMs }
        : { state: "lost" };
    };
    if (outcome.state === "refused_for_now" && outcome.reason === "capacity") work.onCapacity?.();
    const next = await apply<Answered, Next>(
      {
        now: clock.now,
        called: calledBy(target, plan),
        waits: { since: startOf(row), until: deadline },
        limit: {
          of: "submission",
          message: `The provider did not answer within ${plan.limits.timeoutSeconds} seconds.`,
        },
        isTaken: false,
        keep: (answer) => end(endingOf(attempt, answer, clock.now())),
        end: (failure) => end(endingOfFailure(attempt, failure, clock.now()), failure),
        release: ({ reason, observed }, waitMs) =>
          release(attemptEnd(attempt, failed(reason, null, observed), clock.now()), waitMs),
        putBack: () => release(attemptEnd(attempt, NOTHING_SENT, clock.now()), 0),
        taken: () => Promise.reject(new Error("a pinned call is never pending")),
        leave: () => ({ state: "lost" }),
      } satisfies Driver<Answered, Next>,
      outcome,
    );
    if (next.state !== "again") return next;
    const waitedFrom = clock.elapsedMs();
    await sleep(clock, next.waitMs, lease.signal);
    retryWaitMs += clock.elapsedMs() - waitedFrom;
  }
}

type Answered = Extract<PinOutcome, { state: "succeeded" }>;
type Next = Result | { state: "again"; waitMs: number };
/** A submission that was stopped before anything left: no error. */
const NOTHING_SENT = failed("canceled_unsent", null, nothingSent);

type Ending = Omit<End, "clocks">;

const under = (row: Work["row"]) => ({ pinnedId: row.id, fence: row.fence });
const startOf = ({ started_at, created_at }: RecordRow) => started_at ?? created_at;
const isLost = ({ signal }: Lease) =>
  signal.aborted && signal.reason === ("lease_lost" satisfies AbortReason);

/** From its turn on; of a bulk's item never longer than its start window. */
function admissionMs({ bulk_id }: RecordRow, { limits }: PinnedPlan): number {
  const seconds = limits.admissionDeadlineSeconds;
  return 1000 * (bulk_id === null ? seconds : Math.min(seconds, START_WINDOW_SECONDS));
}

/** The body's bytes: a function of what was admitted alone, so they are the same whoever makes them, each time. */
export const bytesOf = ({ api, model }: Target, content: PinnedContent, tier: Tier) =>
  Buffer.from(JSON.stringify(api.body(content, model, tier)));

const opened = (pinnedId: string, number: number, sentHash: string, now: Date): PinnedAttemptRow => ({
  id: newId("attempt"),
  pinned_id: pinnedId,
  number,
  submission: "ambiguous",
  sent_hash: sentHash,
  http_status: null,
  error_code: null,
  started_at: now,
  ended_at: null,
});

/** What was waited between submissions of others, as their rows tell. */
export function waitsBetween(attempts: PinnedAttemptRow[]): number {
  let waited = 0;
  for (const [place, { started_at }] of attempts.entries()) {
    const before = attempts[place - 1]?.ended_at;
    if (before) waited += Math.max(0, started_at.getTime() - before.getTime());
  }
  return waited;
}

/** An end without anything having run: posting it again is safe. */
const unsent = (message: string): Ending =>
  endingOfFailure(null, failed("unsendable", message, nothingSent), new Date(0));

/** The end of a submission without a result, in the words of pinned records. */
function attemptEnd({ id }: PinnedAttemptRow, { kind, code, observed }: Failed, endedAt: Date): AttemptEnd {
  const row = rowOf(kind);
  const { submission } = row.pinned ?? row;
  const httpStatus = submission === "ambiguous" ? null : observed.httpStatus;
  return { id, submission, httpStatus, errorCode: row.pinned?.code ?? code, endedAt };
}

/** An end without a result. `attempt`: the submission it ends with; null: none is open. */
export function endingOfFailure(attempt: PinnedAttemptRow | null, failure: Failed, endedAt: Date): Ending {
  const { pinned, settlement, isSafe } = rowOf(failure.kind);
  return {
    status: settlement === "ambiguous" ? "ambiguous" : "failed",
    code: pinned?.code ?? failure.code,
    message: failure.message,
    settlement,
    safelyRetryable: isSafe,
    attempt: attempt && attemptEnd(attempt, failure, endedAt),
    observed: failure.observed,
    answer: null,
  };
}

const EMPTY = "The provider's answer has no text and calls no tool.";

/** The end that an answer amounts to. */
function endingOf(attempt: PinnedAttemptRow, { sent, observed }: Answered, endedAt: Date): Ending {
  const { text, toolCalls, finishReason } = sent;
  const output: PinnedOutput = { text, toolCalls, finishReason };
  const answer = { output, native: sent.nativeResponse };
  const flaw = answerFlaw(output) ?? answerFlaw(sent.nativeResponse);
  if (flaw) return endingOfFailure(attempt, unusable(flaw, observed), endedAt);
  if (text === "" && toolCalls.length === 0) {
    const failure = unusable(EMPTY, observed, "PROVIDER_EMPTY_OUTPUT");
    return { ...endingOfFailure(attempt, failure, endedAt), answer };
  }
  return {
    status: "succeeded",
    code: null,
    message: null,
    settlement: rowOf(kindOfResult(observed.costMicros)).settlement,
    safelyRetryable: false,
    attempt: {
      id: attempt.id,
      submission: "attempted",
      httpStatus: observed.httpStatus,
      errorCode: null,
      endedAt,
    },
    observed,
    answer,
  };
}
