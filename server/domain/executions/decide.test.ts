import { expect, test } from "vitest";
import { type CallRefused, ending, failed, LOST, nothingSent, unavailable } from "./call-outcome";
import {
  decide,
  decideAbandoned,
  decideTurn,
  decideUnstored,
  type ExecutionFacts,
  endingFound,
} from "./decide";
import { OUTCOMES, type OutcomeKind } from "./outcomes";

const now = new Date("2026-11-27T12:00:00Z");
const at = (ms: number) => new Date(now.getTime() + ms);
const facts: ExecutionFacts = {
  now,
  waits: { since: now, until: at(1_000) },
  limit: { of: "execution", message: "Too late." },
  isTaken: false,
  isAwaited: false,
  canFallBack: false,
};
const bySubmission: Partial<ExecutionFacts> = { limit: { of: "submission", message: "Too late." } };
/** The backoff is the provider's delay, else a tenth of a second more than the wait so far. */
const decideOn = (outcome: Parameters<typeof decide>[1], more: Partial<ExecutionFacts> = {}) =>
  decide({ ...facts, ...more }, outcome, (waitedMs, retryAfterMs) => retryAfterMs ?? waitedMs + 100);

const refused = (reason: CallRefused["reason"], more: Partial<CallRefused> = {}): CallRefused => ({
  state: "retryable",
  reason,
  retryAfterMs: null,
  message: "Not now.",
  observed: { ...nothingSent, httpStatus: 429 },
  ...more,
});
const aborted = (why: "deadline" | "canceled" | "lease_lost" | "shutdown", isSent: boolean) =>
  ({ state: "aborted", submission: isSent ? "attempted" : "not_attempted", why }) as const;
const lost = { ...nothingSent, submission: "ambiguous" } as const;

test("an answer is stored, and work that the provider accepted is polled later", () => {
  const answer = {
    state: "succeeded",
    observed: nothingSent,
    typedOutput: {},
    files: [],
    finishReason: null,
  } as const;
  expect(decideOn(answer)).toEqual({ to: "answered", answer });
  const pending = { state: "pending", handle: "h", pollAfterMs: 500 } as const;
  expect(decideOn(pending)).toEqual({ to: "taken", pending, ending: null });
});

test("an execution whose caller waits keeps the handle of accepted work, and ends as lost or as never sent instead of waiting for another process", () => {
  const isAwaited = true;
  const pending = { state: "pending", handle: "h", pollAfterMs: 500 } as const;
  expect(decideOn(pending, { isAwaited })).toMatchObject({
    to: "taken",
    pending,
    ending: { kind: "lost", settlement: "ambiguous", observed: lost },
  });
  expect(decideOn(aborted("shutdown", false), { isAwaited })).toMatchObject({
    to: "ended",
    ending: { kind: "stopped_unsent", settlement: "released", observed: nothingSent },
  });
});

test("a failure of any kind ends the execution with its own ending unchanged", () => {
  for (const kind of Object.keys(OUTCOMES) as OutcomeKind[]) {
    const ending = failed(kind, "No.", { ...nothingSent, httpStatus: 400 });
    expect(decideOn(ending)).toEqual({ to: "ended", ending });
  }
});

test("a refused tier falls back to standard only after a free 400, and only if that fallback is allowed", () => {
  const canFallBack = true;
  const no = failed("refused", "No such tier.", { ...nothingSent, httpStatus: 400 });
  expect(decideOn(no, { canFallBack })).toEqual({ to: "standard", refused: no });
  const forbidden = failed("refused", "No.", { ...nothingSent, httpStatus: 403 });
  expect(decideOn(forbidden, { canFallBack })).toEqual({ to: "ended", ending: forbidden });
  const charged = failed("refused_after_work", "No.", { ...nothingSent, httpStatus: 400 });
  expect(decideOn(charged, { canFallBack })).toEqual({ to: "ended", ending: charged });
});

test("a refused call waits in proportion to its wait so far, or as the provider asks, to the last millisecond of its window", () => {
  const waiting = (afterMs: number, refusal: CallRefused) => ({ to: "waiting", afterMs, refused: refusal });
  const plain = refused("capacity");
  expect(decideOn(plain)).toEqual(waiting(100, plain));
  const waits = { since: at(-700), until: at(800) };
  expect(decideOn(plain, { waits })).toEqual(waiting(800, plain));
  expect(decideOn(plain, { waits: { ...waits, until: at(799) } })).toMatchObject({ to: "ended" });
  const asked = refused("unreachable", { retryAfterMs: 1_000 });
  expect(decideOn(asked)).toEqual(waiting(1_000, asked));
  expect(decideOn(refused("unreachable", { retryAfterMs: 1_001 }))).toMatchObject({ to: "ended" });
});

test("a refusal beyond the window ends with its reason and counts against the route; a capacity refusal reports the wait", () => {
  const said = { status: 429, code: "busy" };
  const busy = refused("capacity", { retryAfterMs: 7_001, said });
  const observed = { ...nothingSent, httpStatus: 429 };
  expect(decideOn(busy)).toEqual({
    to: "ended",
    ending: failed(
      "capacity",
      "Not now.",
      { ...observed, submission: "attempted" },
      {
        said,
        details: { retryAfterSeconds: 8 },
      },
    ),
    exhausted: busy,
  });
  const down = refused("unreachable", { retryAfterMs: 7_000 });
  expect(decideOn(down)).toEqual({
    to: "ended",
    ending: failed("unreachable", "Not now.", observed),
    exhausted: down,
  });
});

test("a failing store of this installation is retried, then ends the execution as unavailable without counting against the route", () => {
  const internal = refused("unreachable", { isInternal: true });
  expect(decideOn(internal)).toEqual({ to: "waiting", afterMs: 100, refused: internal });
  expect(decideOn({ ...internal, retryAfterMs: 5_000 })).toEqual({
    to: "ended",
    ending: unavailable("Not now."),
  });
});

test("a lost lease leaves the execution to its new owner and corrects a submission that was not sent", () => {
  for (const isSent of [false, true])
    expect(decideOn(aborted("lease_lost", isSent))).toEqual({ to: "left", isUnsent: !isSent });
});

test("a cancel ends a sent request as ambiguous and an unsent one without a charge", () => {
  expect(decideOn(aborted("canceled", true))).toEqual({
    to: "ended",
    ending: failed("canceled", null, lost),
  });
  expect(decideOn(aborted("canceled", false))).toEqual({
    to: "ended",
    ending: failed("canceled_unsent", null, nothingSent),
  });
});

test("a stopping process puts unsent work back, leaves work that the provider accepted, and ends other sent requests as lost", () => {
  expect(decideOn(aborted("shutdown", false))).toEqual({ to: "queued" });
  expect(decideOn(aborted("shutdown", true))).toEqual({ to: "ended", ending: failed("lost", LOST, lost) });
  for (const isSent of [false, true])
    expect(decideOn(aborted("shutdown", isSent), { isTaken: true })).toEqual({ to: "left", isUnsent: false });
});

test("a time limit of either kind ends a sent request", () => {
  for (const more of [{}, bySubmission])
    expect(decideOn(aborted("deadline", true), more)).toEqual({
      to: "ended",
      ending: failed("timed_out", "Too late.", { ...nothingSent, submission: "attempted" }),
    });
});

test("before the request is sent, the execution's limit ends it and a submission's limit counts as an unreachable provider", () => {
  expect(decideOn(aborted("deadline", false))).toEqual({
    to: "ended",
    ending: failed("timed_out_unsent", "Too late.", nothingSent),
  });
  const unreachable = refused("unreachable", { message: "Too late.", observed: nothingSent });
  expect(decideOn(aborted("deadline", false), bySubmission)).toEqual({
    to: "waiting",
    afterMs: 100,
    refused: unreachable,
  });
  expect(
    decideOn(aborted("deadline", false), { ...bySubmission, waits: { since: now, until: at(99) } }),
  ).toEqual({
    to: "ended",
    ending: failed("unreachable", "Too late.", nothingSent),
    exhausted: unreachable,
  });
});

const answered = ending(
  "result",
  { ...nothingSent, submission: "attempted", costMicros: 7 },
  { state: "succeeded" },
);
const why = { code: "QueueTimeout", message: "Too late." };

test("an answered execution that something other than its call ends is charged for the answer", () => {
  expect(endingFound({ answered, submission: "attempted" }, why)).toEqual({
    ...answered,
    state: "failed",
    ...why,
  });
  const canceled = endingFound({ answered, submission: "attempted" }, { code: null, message: null });
  expect(canceled).toMatchObject({ code: null, settlement: "cost", observed: { costMicros: 7 } });
});

test("an unanswered execution is ambiguous if its request may have left and free otherwise, even if canceled", () => {
  for (const code of ["QueueTimeout", null])
    for (const submission of ["attempted", "ambiguous", "not_attempted"] as const) {
      const found = endingFound({ answered: null, submission }, { code, message: null });
      const settlement = submission === "not_attempted" ? "released" : "ambiguous";
      expect(found).toMatchObject({ state: "failed", code, settlement, observed: { submission } });
    }
});

const unsent = failed("stopped_unsent", "It stopped.", nothingSent);
type Abandoned = Parameters<typeof decideAbandoned>[0];
const abandoned = (more: Partial<Abandoned>) =>
  decideAbandoned({
    ...{ answered: null, submission: "not_attempted", isCanceling: false, isTaken: false, unsent: null },
    ...more,
  });

test("abandoned work that was answered or accepted is left to the next process, and a request that may have run ends as lost", () => {
  expect(abandoned({ answered, submission: "attempted" })).toEqual({ to: "left" });
  expect(abandoned({ isTaken: true, submission: "attempted" })).toEqual({ to: "left" });
  for (const submission of ["attempted", "ambiguous"] as const)
    expect(abandoned({ submission, unsent })).toMatchObject({
      to: "ended",
      ending: { kind: "lost", code: "TRANSPORT_AMBIGUOUS", message: LOST, observed: { submission } },
    });
});

test("abandoned work that was not sent waits for the next process, or ends as its caller specifies if there is none", () => {
  expect(abandoned({})).toEqual({ to: "queued" });
  expect(abandoned({ unsent })).toEqual({ to: "ended", ending: unsent });
});

test("abandoned work with a pending cancel ends as canceled, whatever its state", () => {
  const kindOf = (more: Partial<Abandoned>) => {
    const next = abandoned({ ...more, isCanceling: true });
    return next.to === "ended" && [next.ending.kind, next.ending.code, next.ending.settlement];
  };
  expect(kindOf({})).toEqual(["canceled_unsent", null, "released"]);
  expect(kindOf({ submission: "attempted", isTaken: true })).toEqual(["canceled", null, "ambiguous"]);
  expect(kindOf({ submission: "attempted", answered })).toEqual(["result", null, "cost"]);
});

type Claimed = Parameters<typeof decideTurn>[0];
const turn = (more: Partial<Claimed> = {}) =>
  decideTurn({
    ...{ answered: null, submission: "not_attempted", isCanceling: false },
    ...{ isHere: false, isTaken: false, isKnownUnsent: false },
    ...more,
  });

test("a turn sends an unsent request, polls accepted work, and runs local work here", () => {
  expect(turn()).toEqual({ to: "sent" });
  expect(turn({ submission: "attempted", isTaken: true })).toEqual({ to: "polled" });
  expect(turn({ isHere: true })).toEqual({ to: "here" });
});

test("a turn that finds a request begun sends nothing: the request ends as lost, or is released if this process knows that it never left", () => {
  for (const submission of ["ambiguous", "attempted"] as const) {
    expect(turn({ submission })).toMatchObject({ to: "ended", ending: { kind: "lost", message: LOST } });
    expect(turn({ submission, isKnownUnsent: true })).toEqual({ to: "released" });
  }
});

test("a turn ends answered work before anything else, and first stores an answer set aside unless a cancel is pending", () => {
  const aside = { ...answered, isSetAside: true } as const;
  const found = { submission: "attempted", isTaken: true } as const;
  for (const isCanceling of [false, true]) {
    expect(turn({ ...found, answered, isCanceling })).toEqual({ to: "answered" });
    expect(turn({ ...found, answered: aside, isCanceling })).toEqual({
      to: isCanceling ? "answered" : "stored",
    });
  }
});

test("a turn ends work with a pending cancel, whether it was sent or not", () => {
  expect(turn({ isCanceling: true })).toMatchObject({ to: "ended", ending: { kind: "canceled_unsent" } });
  expect(turn({ isCanceling: true, isHere: true })).toMatchObject({ to: "ended" });
  const sent = turn({ isCanceling: true, submission: "attempted", isTaken: true });
  expect(sent).toMatchObject({ to: "ended", ending: { kind: "canceled", settlement: "ambiguous" } });
});

test("an answer that cannot be stored is retried here, then by later turns for half an hour of an outage, and then left to an operator", () => {
  const after = (tried: number, outageMs: number | null) => decideUnstored(tried, [100, 900], outageMs);
  const [minute, halfHour] = [60_000, 1_800_000];
  expect([after(1, null), after(2, halfHour)]).toEqual([
    { to: "again", afterMs: 100 },
    { to: "again", afterMs: 900 },
  ]);
  expect(after(3, null)).toEqual({ to: "aside" });
  for (const [outageMs, afterMs] of [
    [0, 5_000],
    [20_000, 20_000],
    [halfHour - 1, minute],
  ] as const)
    expect(after(3, outageMs)).toEqual({ to: "waiting", afterMs });
  expect(after(3, halfHour)).toEqual({ to: "aside" });
});
