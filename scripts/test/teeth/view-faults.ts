import type { Fault } from "./fault";

/** Faults in what callers are shown: costs, streams and endpoints. */
export const VIEW_FAULTS: Fault[] = [
  {
    name: "unknown-cost-of-an-invoke-is-zero",
    file: "server/domain/jobs/running/invoke.ts",
    find: "    providerCostMicros: observed.costMicros,\n    charge,",
    replace: "    providerCostMicros: observed.costMicros ?? 0,\n    charge,",
    caughtBy: "server/domain/receipts/funding.isolated.test.ts",
  },
  {
    name: "stream-beyond-its-end-is-empty",
    file: "server/domain/jobs/following/follow.ts",
    find: "return hasEnded ? Math.max(0, last - 1) : last;",
    replace: "return last;",
    caughtBy: "server/domain/jobs/following/follow.db.test.ts",
  },
  {
    name: "padded-webhook-secret",
    file: "server/contract/webhooks.ts",
    find: "return secret === secret.trim() && length >= 24",
    replace: "return length >= 24",
    caughtBy: "server/operations/webhook-secrets.db.test.ts",
  },
  {
    name: "part-waits-for-what-its-page-does-not-read",
    file: "app/(panel)/projects/[projectId]/budgets/page.tsx",
    find: "holdsQuery(projectId, isTest, state)",
    replace: "{ projectId }",
    caughtBy: "server/laws/panel-reads.test.ts",
  },
  {
    name: "prisma-query-of-every-tenant",
    file: "server/sql/people.ts",
    find: "if (!isBound(model, args.where ?? {}))",
    replace: "if (args.where === null)",
    caughtBy: "server/sql/people.db.test.ts",
  },
  {
    name: "keys-of-every-tenant",
    file: "server/domain/organizations/keys.ts",
    find: "{ organizationId: amongOrganizations(visible) };",
    replace: "{};",
    caughtBy: "server/domain/organizations/organizations.db.test.ts",
  },
  {
    name: "page-at-the-bound-ends-the-list",
    file: "server/domain/paging.ts",
    find: "const next = rows.length > limit && last ? String(last.id) : floor;",
    replace: "const next = rows.length > limit && last ? String(last.id) : null;",
    caughtBy: "server/domain/paging.db.test.ts",
  },
  {
    name: "blind-job-named-by-a-cursor",
    file: "server/domain/jobs/reading/list.ts",
    find: "AND id <> ALL (ARRAY(SELECT blind.id FROM job blind WHERE blind.is_blind AND blind.project_id = $projectId))",
    replace: "",
    caughtBy: "server/domain/jobs/reading/blind.db.test.ts",
  },
  {
    name: "news-of-an-account-for-operators-alone",
    file: "server/domain/notifications/visible.ts",
    find: ".kind, 'account.')`",
    replace: ".kind, 'none.')`",
    caughtBy: "server/domain/notifications/list.db.test.ts",
  },
];
