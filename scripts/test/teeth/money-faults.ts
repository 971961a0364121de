import { type Fault, MIGRATION } from "./fault";

/** What is reserved, charged, refunded and reported. */
export const MONEY_FAULTS: Fault[] = [
  {
    name: "ceiling-missing-in-reservation",
    file: "prisma/migrations/20261126113000_holds_in_rows/migration.sql",
    find: "\n        AND (due.enforcement <> 'prevent' OR w.settled_micros + w.held_micros + due.amount <= due.ceiling)",
    replace: "",
    caughtBy: "server/domain/budgets/attack.db.test.ts",
  },
  {
    name: "hold-ends-twice",
    file: MIGRATION,
    find: "WHEN (OLD.\"state\" <> 'open' AND (OLD.\"state\" <> 'ambiguous' OR NEW.\"state\" = 'open'))",
    replace: "WHEN (OLD.\"state\" = 'settled')",
    caughtBy: "server/platform/db.db.test.ts",
  },
  {
    name: "hold-released-twice",
    file: "server/domain/budgets/resolve.ts",
    find: "WHERE id = $1 AND hold_state = 'ambiguous'",
    replace: "WHERE id = $1",
    caughtBy: "server/domain/budgets/holds.db.test.ts",
  },
  {
    name: "fee-rounded-down",
    file: "server/domain/catalog/pricing/price.ts",
    find: "BigInt(bps) + ALL_BPS / 2n) / ALL_BPS",
    replace: "BigInt(bps)) / ALL_BPS",
    caughtBy: "server/domain/catalog/pricing/price.test.ts",
  },
  {
    name: "unknown-cost-is-zero",
    file: "server/domain/executions/money.ts",
    find: "const nothing = { costMicros: null,",
    replace: "const nothing = { costMicros: 0,",
    caughtBy: "server/domain/receipts/compose.db.test.ts",
  },
  {
    name: "refund-in-the-second-of-a-failure",
    file: "server/domain/payments/merge.ts",
    find: "total > 0 && total <= standing",
    replace: "total > 0 && total < standing",
    caughtBy: "server/domain/payments/messages.db.test.ts",
  },
  {
    name: "dispute-stays-lost",
    file: "server/domain/payments/merge.ts",
    find: ": saidAt > knownAt",
    replace: ': saidAt > knownAt && known.outcome !== "lost"',
    caughtBy: "server/domain/payments/messages.db.test.ts",
  },
  {
    name: "lower-approval-accepted",
    file: "server/domain/jobs/decisions/approvals.ts",
    find: "(first !== null && authorized >= first)",
    replace: "first !== null",
    caughtBy: "server/operations/statuses/jobs.db.test.ts",
  },
  {
    name: "threshold-of-one-item",
    file: "server/domain/pins/bulk/submit.ts",
    find: "items.reduce((sum, item) => sum + item.estimated_micros, 0)",
    replace: "items.reduce((most, item) => Math.max(most, item.estimated_micros), 0)",
    caughtBy: "server/operations/statuses/bulks.db.test.ts",
  },
  {
    name: "quote-never-expires",
    file: "server/domain/quotes/check.ts",
    find: '  if (found.expires_at <= ctx.now()) mismatch("expired");\n',
    replace: "",
    caughtBy: "server/domain/quotes/check.db.test.ts",
  },
  {
    name: "rest-to-the-last-provider",
    file: "server/domain/executions/money.ts",
    find: 'calls.findLast(({ settlement }) => settlement === "hold") ?? calls.at(-1)',
    replace: "calls.at(-1)",
    caughtBy: "server/domain/executions/money.db.test.ts",
  },
  {
    name: "reserved-shown-as-zero",
    file: "components/jobs/charge-words.tsx",
    find: 'state === "reserved" ? authorizedMicros : (chargedMicros ?? 0)',
    replace: "(chargedMicros ?? 0)",
    caughtBy: "components/jobs/charge-words.test.ts",
  },
];
