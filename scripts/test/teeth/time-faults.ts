import type { Fault } from "./fault";

export const TIME_FAULTS: Fault[] = [
  {
    name: "connection-in-another-zone",
    file: "server/platform/db.ts",
    find: "onConnect: requireUtc,",
    replace: "",
    caughtBy: "server/start-up.isolated.test.ts",
  },
  {
    name: "hour-of-the-session",
    file: "server/domain/plans/used.ts",
    find: "date_trunc('hour', $now::timestamptz, 'UTC')",
    replace: "date_trunc('hour', $now::timestamptz)",
    caughtBy: "server/laws/zones.db.test.ts",
  },
  {
    name: "end-of-a-key-not-corrected",
    file: "prisma/migrations/20261128010000_times_in_utc/migration.sql",
    find: "ELSE expires_at - error END AS real_end",
    replace: "ELSE expires_at END AS real_end",
    caughtBy: "scripts/migrate/times.db.test.ts",
  },
  {
    name: "many-values-in-one-piece",
    file: "server/platform/text/canonical-text.ts",
    find: "if (++made.members % PIECE === 0) yield;",
    replace: "made.members++;",
    caughtBy: "server/platform/text/canonical.test.ts",
  },
];
