import type { Fault } from "./fault";

/** Faults of leases: who holds work, and which requests may be sent under a lease. */
export const LEASE_FAULTS: readonly Fault[] = [
  {
    name: "lease-not-checked",
    file: "server/domain/jobs/transitions/claim.ts",
    find: "WHEN status = 'running' THEN lease_until < clock_timestamp() AND (",
    replace: "WHEN status = 'running' THEN (",
    caughtBy: "server/domain/jobs/running/recovery.db.test.ts",
  },
  {
    name: "gate-not-asked",
    file: "server/domain/executions/call.ts",
    find: 'if (gate === "lost") return',
    replace: 'if (gate === "lost" && !call) return',
    caughtBy: "server/domain/jobs/running/leases.db.test.ts",
  },
  {
    name: "lease-not-renewed-at-the-gate",
    file: "server/domain/executions/leases.ts",
    find: "performance.now() > one.goodUntil - leastMs",
    replace: "performance.now() > one.goodUntil + 60_000",
    caughtBy: "server/domain/jobs/running/leases.db.test.ts",
  },
  {
    name: "lease-by-the-process's-clock",
    file: "server/domain/jobs/transitions/admission.ts",
    find: "CASE WHEN lease_owner IS NOT NULL THEN ",
    replace: "CASE WHEN lease_owner IS NOT NULL THEN started_at - clock_timestamp() + ",
    caughtBy: "server/domain/jobs/running/leases.db.test.ts",
  },
  {
    name: "sweeper-before-owners-renew",
    file: "server/domain/jobs/transitions/finish.ts",
    find: "AND (input.reap_until IS NULL OR ",
    replace: "AND (input.reap_until IS NULL OR true OR ",
    caughtBy: "server/domain/jobs/running/leases.db.test.ts",
  },
  {
    name: "hold-of-a-lost-item",
    file: "server/domain/pins/bulk/hold.ts",
    find: "WHERE pinned.fence = input.fence AND pinned.status = 'running'",
    replace: "WHERE pinned.status = 'running'",
    caughtBy: "server/domain/pins/bulk/hold.db.test.ts",
  },
];
