import type { Fault } from "./fault";

const file = "server/domain/executions/decide.ts";
const caughtBy = "server/domain/executions/decide.test.ts";

/** Faults in what follows from the outcome of a call. */
export const DECISION_FAULTS: Fault[] = [
  {
    name: "timed-out-request-is-sent-again",
    file,
    find: 'return isSent ? { to: "ended", failure: timedOut(facts) } : afterUnsentDeadline(facts, backoff);',
    replace: "return afterUnsentDeadline(facts, backoff);",
    caughtBy,
  },
  {
    name: "sent-request-is-put-back-by-a-stopping-process",
    file,
    find: 'return isSent ? { to: "ended", failure: failed("lost", LOST, observed) } : { to: "queued" };',
    replace: 'return { to: "queued" };',
    caughtBy,
  },
  {
    name: "work-under-a-handle-is-lost-by-a-stopping-process",
    file,
    find: 'if (facts.isTaken) return { to: "left", isUnsent: false };',
    replace: "",
    caughtBy,
  },
  {
    name: "refused-call-waits-past-its-window",
    file,
    find: "if (now.getTime() + afterMs <= until.getTime())",
    replace: "if (now.getTime() <= until.getTime())",
    caughtBy,
  },
  {
    name: "outage-of-ours-counts-against-the-route",
    file,
    find: 'if (refused.isInternal) return { to: "ended", failure: unavailable(refused.message) };',
    replace: "",
    caughtBy,
  },
];
