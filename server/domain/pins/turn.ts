import { START_WINDOW_SECONDS } from "@/server/contract/pinned";
import type { PinnedOutput } from "@/server/contract/pinned-records";
import type { OpenAccount } from "@/server/domain/connections";
import {
  type AbortReason,
  apply,
  backoffOf,
  type CallOutcome,
  decide,
  type Ending,
  type ExecutionFacts,
  end,
  failed,
  type Lease,
  type NewEnding,
  type Next,
  nothingSent,
  refuseInternally,
  resultOf,
  type Store,
  send,
  sleep,
  unusable,
} from "@/server/domain/executions";
import { pinnedAttemptLater } from "@/server/generated/schema";
import { untilEnded } from "@/server/platform/durable/retry";
import { isDatabaseOutage } from "@/server/platform/errors/outage";
import { newId } from "@/server/platform/ids";
import { failpoint } from "@/server/platform/settings/failpoint";
import { answerFlaw, sha256Hex } from "@/server/platform/text/canonical";
import { wholeValue } from "@/server/platform/text/whole-text";
import type { Tier } from "@/server/providers/define";
import { type PinSent, sendPin } from "@/server/providers/pins";
import { closed, type HeldPin, type PinEnd, type SealedPin, storeOf, type Whole } from "./end";
import { correctUnsentPin } from "./never-sent";
import { accountOf, type PinTarget, targetOf } from "./planning/target";
import {
  type PinnedAttemptRow,
  type PinnedContent,
  type PinnedPlan,
  startOf,
  submissionOf,
  waitsBetween,
} from "./rows";
import { beginAttempt, endAttempt } from "./transitions";

/** A claimed execution: it is running, and leased to this process under `row.fence`. */
type PinWork = HeldPin & {
  /** Each submission is added here. */
  attempts: PinnedAttemptRow[];
  content: PinnedContent;
  lease: Lease;
  /** Called when the vendor reports that it has no capacity. */
  onCapacity?(): void;
  /** Called before each submission; false ends the work without another one. */
  mayGoOn?(): boolean;
};

/**
 * `stopped`: `mayGoOn` or a shutdown stopped an item of a bulk before the vendor answered any submission, and
 * its row is still running. `ended` has no record if another process has the execution; this one then writes
 * nothing.
 */
type PinResult = Extract<Next<SealedPin>, { state: "ended" }> | { state: "stopped" };

const LOST = { state: "ended" } as const;

/**
 * Runs an execution to its end. Every submission is stored before its first byte can leave. A request that
 * the vendor definitely did not accept is sent again, with the same bytes, within the admission deadline; a
 * request that may have run is never sent again.
 */
export const execute = (work: PinWork): Promise<PinResult> =>
  carryOn(work).catch((cause) => {
    // Not awaited, because the database is out.
    if (isDatabaseOutage(cause) && submissionOf(work.attempts) === "not_attempted")
      void correctUnsentPin(work.clock, work.row);
    throw cause;
  });

async function carryOn(work: PinWork): Promise<PinResult> {
  const { plan, row, clock, lease } = work;
  const beganAt = clock.elapsedMs();
  const headStartMs = Math.max(0, clock.now().getTime() - startOf(row).getTime());
  const { attempts } = work;
  let retryWaitMs = waitsBetween(attempts);
  let providerExecutionMs: number | null = null;
  const ending = (answer: Whole | null = null) => {
    const wallClockMs = Math.round(headStartMs + clock.elapsedMs() - beganAt);
    const clocks = { retryWaitMs: Math.round(retryWaitMs), providerExecutionMs, wallClockMs };
    return storeOf({ row, plan, attempts, clock }, { answer, clocks });
  };
  const refuse = (message: string) => end(ending(), failed("unsendable", message, nothingSent));
  const target = targetOf(plan);
  const bytes = target && bytesOf(target, work.content, plan.tier);
  if (!target || !bytes) return refuse("This installation no longer has the pinned provider or model.");
  const sentHash = sha256Hex(bytes);

  /** `attempt`: the open submission; null if none could be begun. */
  const leased = (attempt: PinnedAttemptRow | null): Store<Answered, PinEnd, SealedPin> => {
    /** Nothing ran: the same bytes may be sent again. False if the lease was lost. */
    const release = async (ending: NewEnding): Promise<boolean> => {
      if (!attempt) return true;
      const ended = closed(attempt, ending, clock.now());
      attempts[attempts.length - 1] = ended;
      return endAttempt({ pinnedId: row.id, fence: row.fence, attempt: ended });
    };
    return {
      ...ending(),
      now: clock.now,
      called: calledBy(target, plan),
      answer(answered) {
        const [own, whole] = endingOf(answered);
        return end(ending(whole), own);
      },
      release: ({ reason, observed }) => release(failed(reason, null, observed)),
      requeue: async () =>
        (await release(failed("canceled_unsent", null, nothingSent))) ? { state: "again", afterMs: 0 } : LOST,
      keepHandle: () => Promise.reject(new Error("a pinned call is never pending")),
      standard: () => Promise.reject(new Error("a pinned call is only sent on its own tier")),
      correctUnsent: () => correctUnsentPin(clock, row),
    };
  };
  const applyOutcome = (attempt: PinnedAttemptRow | null, outcome: CallOutcome<Answered>) =>
    apply(leased(attempt), decide(factsOf(work), outcome, backoffOf));

  let attemptId = newId("attempt");
  const open = async () => {
    const account = await accountOf(target, plan, { id: row.project_id, environment: row.environment });
    if (!account) return "unconnected";
    const attempt = await begin(work, attemptId, attempts.length + 1, sentHash);
    if (!attempt) return "lost";
    attemptId = newId("attempt");
    return { account, attempt };
  };

  const turn = async (): Promise<PinResult | Next<SealedPin>> => {
    const { aborted, reason } = lease.signal;
    if (aborted && reason === ("lease_lost" satisfies AbortReason)) return LOST;
    if (aborted || work.mayGoOn?.() === false) {
      if (row.bulk_id !== null && submissionOf(attempts) === "not_attempted") return { state: "stopped" };
      return refuse("The execution was stopped before the provider accepted it.");
    }
    /** Before anything leaves, a database outage is waited out like an unreachable provider. */
    const opened = await open().catch((cause) => {
      if (!isDatabaseOutage(cause)) throw cause;
      return refuseInternally({ attemptId: row.id }, cause, UNREADABLE);
    });
    if (opened === "lost") return LOST;
    if (opened === "unconnected")
      return refuse("The provider account of this execution is no longer connected.");
    if ("state" in opened) return applyOutcome(null, opened);
    const { account, attempt } = opened;
    attempts.push(attempt);
    const sentAt = clock.elapsedMs();
    const outcome = await submit(work, { target, account, bytes, attempt });
    const hasEnded = outcome.state === "succeeded" || outcome.state === "failed";
    if (hasEnded && outcome.observed.submission !== "not_attempted")
      providerExecutionMs = Math.round(clock.elapsedMs() - sentAt);
    failpoint("after-answer");
    if (outcome.state === "retryable" && outcome.reason === "capacity") work.onCapacity?.();
    return applyOutcome(attempt, outcome);
  };
  return untilEnded<PinResult>(turn, async (ms) => {
    const from = clock.elapsedMs();
    await sleep(clock, ms, lease.signal);
    retryWaitMs += clock.elapsedMs() - from;
  });
}

/**
 * A pinned call is never pending and uses only its own tier. If it is stopped before it was sent, the next
 * turn decides whether the execution ends.
 */
function factsOf(held: HeldPin): ExecutionFacts {
  const since = startOf(held.row);
  return {
    now: held.clock.now(),
    waits: { since, until: new Date(since.getTime() + admissionMs(held)) },
    limit: {
      of: "submission",
      message: `The provider did not answer within ${held.plan.limits.timeoutSeconds} seconds.`,
    },
    isTaken: false,
    isAwaited: false,
    canFallBack: false,
  };
}

/**
 * How long an execution may be sent after its turn came, in milliseconds; for an item of a bulk, at most the
 * start window.
 */
function admissionMs({ row, plan }: HeldPin): number {
  const seconds = plan.limits.admissionDeadlineSeconds;
  return 1000 * (row.bulk_id === null ? seconds : Math.min(seconds, START_WINDOW_SECONDS));
}

/** The bytes of the body. They depend only on admitted data, so they are the same each time. */
export const bytesOf = ({ api, model }: PinTarget, content: PinnedContent, tier: Tier) =>
  Buffer.from(JSON.stringify(api.body(content, model, tier)));

/**
 * Stores a submission before it can leave; null if another process has the execution. The same id finds its
 * own row again if the database's answer was lost.
 */
async function begin(
  { row, clock }: HeldPin,
  id: string,
  number: number,
  sentHash: string,
): Promise<PinnedAttemptRow | null> {
  const now = clock.now();
  const { id: pinnedId, fence } = row;
  if (!(await beginAttempt({ pinnedId, fence, attemptId: id, number, sentHash, now }))) return null;
  failpoint("after-submission-begun");
  return {
    ...pinnedAttemptLater,
    id,
    pinned_id: pinnedId,
    number,
    submission: "ambiguous",
    sent_hash: sentHash,
    started_at: now,
  };
}

type Answered = { state: "succeeded"; sent: PinSent; observed: Ending["observed"] };

/** The route and account of a plan, under which route health is recorded. */
const calledBy = ({ provider, model }: PinTarget, { credentialId }: PinnedPlan) => ({
  route: { provider, model },
  account: credentialId === null ? ("sandbox" as const) : { credentialId },
});

/** Sends the bytes once, under a time limit of their own, and returns the outcome. */
async function submit(
  { row, plan, clock, lease }: PinWork,
  {
    target,
    account,
    bytes,
    attempt,
  }: { target: PinTarget; account: OpenAccount; bytes: Uint8Array; attempt: PinnedAttemptRow },
): Promise<CallOutcome<Answered>> {
  const limit = new AbortController();
  const callOff = clock.after(plan.limits.timeoutSeconds * 1000, () =>
    limit.abort("deadline" satisfies AbortReason),
  );
  const call = {
    ...calledBy(target, plan),
    open: async () => account,
    bounds: {},
    asked: () => ({ words: Buffer.from(bytes).toString("utf8"), pictures: [] }),
    attemptId: row.id, // the vendor's log counts submissions by this id
    tier: plan.tier,
    signal: AbortSignal.any([lease.answerSignal, limit.signal]),
    async gate() {
      const gate = await lease.gate();
      if (gate === "open") attempt.started_at = clock.now();
      return gate;
    },
    now: clock.now,
  };
  const outcome = await send(call, async (io) => {
    const sent = await sendPin(target.api, bytes, io);
    return { ...sent, state: "done", result: sent, httpStatus: sent.status };
  }).finally(callOff);
  if (outcome.state === "pending") throw new Error("no interface that can be pinned answers with a handle");
  if (outcome.state !== "answered") return outcome;
  const { result: sent, observed } = outcome;
  const { providerFingerprint } = sent;
  return { state: "succeeded", sent, observed: { ...observed, providerFingerprint } };
}

const UNREADABLE = "The database could not be reached before the request was sent.";

const EMPTY = "The provider's answer has no text and calls no tool.";

/** The ending for an answer, and the answer itself, or null if it is flawed. */
function endingOf({ sent, observed }: Answered): [NewEnding, Whole | null] {
  const { text, toolCalls, finishReason } = sent;
  const output: PinnedOutput = wholeValue({ text, toolCalls, finishReason });
  const native = wholeValue(sent.nativeResponse);
  const flaw = answerFlaw(output) ?? answerFlaw(native);
  if (flaw) return [unusable(flaw, observed), null];
  const isEmpty = text === "" && toolCalls.length === 0;
  const ending = isEmpty
    ? unusable(EMPTY, observed, "PROVIDER_EMPTY_OUTPUT")
    : resultOf({ observed, finishReason });
  return [ending, { output, native }];
}
