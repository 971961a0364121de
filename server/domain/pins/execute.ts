import { answerFlaw, sha256Hex } from "@/server/canonical";
import { type PinnedOutput, START_WINDOW_SECONDS } from "@/server/contract/pinned";
import { noteFailure } from "@/server/domain/catalog";
import {
  type AbortReason,
  backoffOf,
  kindOfResult,
  kindOfUnusable,
  type Lease,
  type ProviderSaid,
  rowOf,
} from "@/server/domain/executions";
import { failpoint } from "@/server/failpoint";
import { newId } from "@/server/ids";
import { log } from "@/server/log";
import type { Tier } from "@/server/providers/define";
import { type Clock, sleep } from "./clock";
import { type Concluded, conclude, type End, type Held } from "./conclude";
import type { RecordRow } from "./record";
import { type PinnedAttemptRow, type PinnedContent, type PinnedPlan, submissionOf } from "./rows";
import { NOTHING_OBSERVED, type Outcome, submitOnce } from "./submit";
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
export type Told = { said?: ProviderSaid | undefined; retryAfterSeconds?: number };

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

  const deadline = startOf(row).getTime() + admissionMs(row, plan);
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
      stop: lease.signal,
      clock,
    });
    const tookMs = clock.elapsedMs() - sentAt;
    failpoint("after-answer");
    if (outcome.state === "answered" || outcome.state === "failed") {
      if (outcome.state === "answered" || outcome.submission !== "not_attempted")
        providerExecutionMs = Math.round(tookMs);
      const said = outcome.state === "failed" ? outcome.said : undefined;
      return end(endingOf(attempt, outcome, clock.now()), { said });
    }

    const ended = attemptEnd(attempt, outcome, clock.now());
    attempts[attempts.length - 1] = {
      ...attempt,
      submission: ended.submission,
      http_status: ended.httpStatus,
      error_code: ended.errorCode,
      ended_at: ended.endedAt,
    };
    if (outcome.state === "not_now") {
      if (outcome.reason === "capacity") work.onCapacity?.();
      const waitMs = backoffOf(clock.now().getTime() - startOf(row).getTime(), outcome.retryAfterMs);
      if (clock.now().getTime() + waitMs > deadline) {
        await tellHealth(target, plan, outcome, clock);
        const isCapacity = outcome.reason === "capacity";
        return end(
          { ...unsent(outcome.message), attempt: ended, observed: outcome.observed },
          {
            said: outcome.said,
            ...(isCapacity ? { retryAfterSeconds: Math.ceil(waitMs / 1000) } : {}),
          },
        );
      }
      if (!(await endAttempt({ ...under(row), attempt: ended }))) return { state: "lost" };
      const waitedFrom = clock.elapsedMs();
      await sleep(clock, waitMs, lease.signal);
      retryWaitMs += clock.elapsedMs() - waitedFrom;
    } else if (!(await endAttempt({ ...under(row), attempt: ended }))) {
      return { state: "lost" };
    }
  }
}

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
const unsent = (message: string): Ending => ({
  status: "failed",
  code: "ProviderUnavailable",
  message,
  settlement: "released",
  safelyRetryable: true,
  attempt: null,
  observed: NOTHING_OBSERVED,
  answer: null,
});

function attemptEnd(
  { id }: PinnedAttemptRow,
  outcome: Extract<Outcome, { state: "not_now" | "stopped" }>,
  endedAt: Date,
): AttemptEnd {
  const isStopped = outcome.state === "stopped";
  return {
    id,
    submission: isStopped ? "not_attempted" : outcome.submission,
    httpStatus: isStopped ? null : outcome.observed.httpStatus,
    errorCode: isStopped ? null : "ProviderUnavailable",
    endedAt,
  };
}

const EMPTY = "The provider's answer has no text and calls no tool.";

/** The end that an answer, or a definite or lost failure, amounts to. */
function endingOf(
  { id }: PinnedAttemptRow,
  outcome: Extract<Outcome, { state: "answered" | "failed" }>,
  endedAt: Date,
): Ending {
  const { observed } = outcome;
  const { httpStatus } = observed;
  if (outcome.state === "failed") {
    const { submission, failure } = outcome;
    const isOpen = submission === "ambiguous";
    return {
      ...failure,
      attempt: { id, submission, httpStatus: isOpen ? null : httpStatus, errorCode: failure.code, endedAt },
      observed,
      answer: null,
    };
  }
  const { sent } = outcome;
  const { text, toolCalls, finishReason } = sent;
  const output: PinnedOutput = { text, toolCalls, finishReason };
  const attempt = { id, submission: "attempted" as const, httpStatus, endedAt };
  const failed = (
    code: "PROVIDER_EMPTY_OUTPUT" | "PROVIDER_ERROR",
    message: string,
    answer: Ending["answer"],
  ) =>
    ({
      status: "failed" as const,
      code,
      message,
      settlement: rowOf(kindOfUnusable(observed.costMicros)).settlement,
      safelyRetryable: false,
      attempt: { ...attempt, errorCode: code },
      observed,
      answer,
    }) satisfies Ending;
  const flaw = answerFlaw(output) ?? answerFlaw(sent.nativeResponse);
  if (flaw) return failed("PROVIDER_ERROR", flaw, null);
  if (text === "" && toolCalls.length === 0)
    return failed("PROVIDER_EMPTY_OUTPUT", EMPTY, { output, native: sent.nativeResponse });
  return {
    status: "succeeded",
    code: null,
    message: null,
    settlement: rowOf(kindOfResult(observed.costMicros)).settlement,
    safelyRetryable: false,
    attempt: { ...attempt, errorCode: null },
    observed,
    answer: { output, native: sent.nativeResponse },
  };
}

/** Nobody tries this call again: what stood against it to the end is remembered of its route. */
async function tellHealth(
  { provider, model }: Target,
  { credentialId }: PinnedPlan,
  { reason }: Extract<Outcome, { state: "not_now" }>,
  clock: Clock,
): Promise<void> {
  const account = credentialId === null ? ("sandbox" as const) : { credentialId };
  await noteFailure({ provider, model, account }, reason, clock.now());
  log.debug({ provider: provider.name, model: model.id, reason }, "a pinned execution was abandoned");
}
