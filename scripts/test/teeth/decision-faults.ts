import type { Fault } from "./fault";

const file = "server/domain/executions/decide.ts";
const caughtBy = "server/domain/executions/decide.test.ts";

/** Faults in what follows from the outcome of a call, and in how an execution ends. */
export const DECISION_FAULTS: Fault[] = [
  {
    name: "timed-out-request-is-sent-again",
    file,
    find: 'return isSent ? { to: "ended", ending: timedOut(facts) } : afterUnsentDeadline(facts, backoff);',
    replace: "return afterUnsentDeadline(facts, backoff);",
    caughtBy,
  },
  {
    name: "sent-request-is-put-back-by-a-stopping-process",
    file,
    find: 'if (isSent) return { to: "ended", ending: failed("lost", LOST, observed) };',
    replace: "",
    caughtBy,
  },
  {
    name: "awaited-work-is-put-back-by-a-stopping-process",
    file,
    find: "return facts.isAwaited\n            ?",
    replace: "return facts.isTaken\n            ?",
    caughtBy,
  },
  {
    name: "awaited-work-under-a-handle-is-polled-by-no-one",
    file,
    find: 'ending: facts.isAwaited ? failed("lost", TAKEN, lost) : null',
    replace: "ending: null",
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
    find: 'if (refused.isInternal) return { to: "ended", ending: unavailable(refused.message) };',
    replace: "",
    caughtBy,
  },
  {
    name: "paid-answer-is-found-as-lost",
    file,
    find: 'if (answered) return { ...answered, state: "failed", code, message };',
    replace: "",
    caughtBy,
  },
  {
    name: "found-request-that-left-costs-nothing",
    file,
    find: 'const kind = submission === "not_attempted" ? unsent : sent;',
    replace: "const kind = unsent;",
    caughtBy,
  },
  {
    name: "abandoned-answer-is-thrown-away",
    file,
    find: 'if (answered || isTaken) return { to: "left" };',
    replace: 'if (isTaken) return { to: "left" };',
    caughtBy,
  },
  {
    name: "abandoned-work-under-a-handle-is-lost",
    file,
    find: 'if (answered || isTaken) return { to: "left" };',
    replace: 'if (answered) return { to: "left" };',
    caughtBy,
  },
  {
    name: "abandoned-work-ignores-a-cancel",
    file,
    find: "(found, CANCELED) };\n  if (answered || isTaken)",
    replace: "(found, LOST_CALL) };\n  if (answered || isTaken)",
    caughtBy,
  },
  {
    name: "begun-request-is-sent-by-the-next-turn",
    file,
    find: 'if (submission === "not_attempted") return { to: "sent" };',
    replace: 'if (submission !== "attempted") return { to: "sent" };',
    caughtBy,
  },
  {
    name: "answer-set-aside-is-taken-for-stored",
    file,
    find: 'if (answered?.isSetAside && !isCanceling) return { to: "stored" };',
    replace: "",
    caughtBy,
  },
  {
    name: "unstored-answer-is-waited-for-without-end",
    file,
    find: "if (outageMs === null || outageMs >= OUTAGE_MS)",
    replace: "if (outageMs === null)",
    caughtBy,
  },
  {
    name: "estimate-is-stored-as-a-known-cost",
    file: "server/domain/jobs/ending/ending.ts",
    find: "  ...(submissions ? { submissions } : {}),\n  ...(estimated ? { estimated } : {}),\n});",
    replace: "  ...(submissions ? { submissions } : {}),\n});",
    caughtBy: "server/domain/jobs/ending/endings.db.test.ts",
  },
  {
    name: "key-of-an-unsent-call-stays-taken",
    file: "server/domain/executions/call-outcome.ts",
    find: "kind !== null && rowOf(kind).freesKey === true;",
    replace: "kind === undefined;",
    caughtBy: "server/domain/jobs/running/leases.db.test.ts",
  },
  {
    name: "open-pin-is-found-as-unsent",
    file: "server/domain/pins/sweep.ts",
    find: 'isOpen ? ("ambiguous" as const) : ("not_attempted" as const)',
    replace: '"not_attempted" as const',
    caughtBy: "server/domain/jobs/running/leases.db.test.ts",
  },
];
