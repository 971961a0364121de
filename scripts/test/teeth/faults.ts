/** A mistake as somebody could make it, and the test file that has to notice. */
export type Fault = {
  name: string;
  file: string;
  /** Occurs in the file exactly once, and of all migrations last in this one: a later one would put it right again. */
  find: string;
  replace: string;
  caughtBy: string;
};

const MIGRATION = "prisma/migrations/0001_init/migration.sql";

export const FAULTS: Fault[] = [
  // Tenants and rights.
  {
    name: "tenant-missing-in-read",
    file: "server/domain/jobs/rows.ts",
    find: "AND ($organizationIds::text[] IS NULL OR organization_id = ANY($organizationIds))",
    replace: "AND ($organizationIds::text[] IS NULL OR true)",
    caughtBy: "server/domain/jobs/decisions/approvals.db.test.ts",
  },
  {
    name: "project-of-another-organization",
    file: "server/domain/access/authorize.ts",
    find: "if (!row || !role) return projectDenied();",
    replace: "if (!row) return projectDenied();",
    caughtBy: "server/domain/access/authorize.db.test.ts",
  },
  {
    name: "row-level-security-off",
    file: MIGRATION,
    find: "ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",
    replace: "ALTER TABLE %s ENABLE ROW LEVEL SECURITY",
    caughtBy: "server/platform/db.db.test.ts",
  },
  {
    name: "scope-not-checked",
    file: "server/domain/access/authorize.ts",
    find: 'if (principal.kind === "service_principal" && scope !== null && !principal.scopes.has(scope))',
    replace: 'if (principal.kind === "service_principal" && scope !== null && principal.scopes.size === 0)',
    caughtBy: "server/domain/access/authorize.db.test.ts",
  },
  {
    name: "role-rank-off-by-one",
    file: "server/domain/access/rights.ts",
    find: "return RANK[role] >= RANK[least];",
    replace: "return RANK[role] + 1 >= RANK[least];",
    caughtBy: "server/domain/access/authorize.db.test.ts",
  },
  {
    name: "revoked-key-works",
    file: "server/domain/access/principals.ts",
    find: " AND key.revoked_at IS NULL AND maker.revoked_at IS NULL",
    replace: " AND maker.revoked_at IS NULL",
    caughtBy: "server/domain/access/access.db.test.ts",
  },
  {
    name: "key-outlives-its-management-key",
    file: "server/domain/access/principals.ts",
    find: " AND key.revoked_at IS NULL AND maker.revoked_at IS NULL",
    replace: " AND key.revoked_at IS NULL",
    caughtBy: "server/domain/management/management.db.test.ts",
  },
  {
    name: "management-key-in-any-project",
    file: "server/domain/access/manage.ts",
    find: "!principal.management.projectIds.includes(projectId)",
    replace: "projectId === null",
    caughtBy: "server/domain/management/management.db.test.ts",
  },
  {
    name: "session-survives-sign-out",
    file: "server/domain/access/sessions.ts",
    find: " AND revoked_at IS NULL`,",
    replace: "`,",
    caughtBy: "server/domain/sessions/sessions.db.test.ts",
  },
  {
    name: "session-survives-password-change",
    file: "server/domain/access/sessions.ts",
    find: "ON user_account.id = user_id AND session_version = version\n",
    replace: "ON user_account.id = user_id\n",
    caughtBy: "server/domain/sessions/sessions.db.test.ts",
  },
  {
    name: "origin-not-checked",
    file: "server/api/own-page.ts",
    find: "if (isSameSite && isOwnPage(asked)) return;",
    replace: "if (isSameSite) return;",
    caughtBy: "server/api/own-page.test.ts",
  },
  {
    name: "limit-not-counted",
    file: "server/api/rate-limit.ts",
    find: "const left = tokens >= 1 ? tokens - 1 : tokens;",
    replace: "const left = tokens;",
    caughtBy: "server/api/rate-limit.test.ts",
  },
  {
    name: "restored-work-sent",
    file: "server/domain/restores/held.ts",
    find: "> coalesce((SELECT before FROM",
    replace: "> coalesce((SELECT NULL::timestamptz FROM",
    caughtBy: "scripts/backup/restore.isolated.test.ts",
  },

  // Secrets and the world outside.
  {
    name: "secret-in-log",
    file: "server/platform/log/log.ts",
    find: "hooks: { streamWrite: redactText },",
    replace: "hooks: {},",
    caughtBy: "server/platform/log/log.db.test.ts",
  },
  {
    name: "secret-in-answer",
    file: "server/platform/crypto/redact-secrets.ts",
    find: "clean.replaceAll(inJson, hidden)",
    replace: "clean.replace(inJson, hidden)",
    caughtBy: "server/platform/crypto/redact-secrets.test.ts",
  },
  {
    name: "private-address-allowed",
    file: "server/platform/http/addresses.ts",
    find: "!addresses.every(({ address }) => isPublicAddress(address))",
    replace: "!isPublicAddress(first.address)",
    caughtBy: "server/platform/http/addresses.test.ts",
  },
  {
    name: "artifact-path-escapes",
    file: "server/domain/artifacts/pieces.ts",
    find: "/^[0-9a-f]{64}$/",
    replace: "/^[0-9a-f]{64}/",
    caughtBy: "server/domain/artifacts/files.test.ts",
  },
  {
    name: "cursor-of-another-list",
    file: "server/domain/paging.ts",
    find: "return idSchema(kind).safeParse(cursor).success ? cursor : refuseCursor();",
    replace: 'return cursor.includes("_") ? cursor : refuseCursor();',
    caughtBy: "server/domain/paging.db.test.ts",
  },
  {
    name: "status-code-changed",
    file: "server/platform/errors/errors.ts",
    find: "IdempotencyConflict: stop(\n    409,",
    replace: "IdempotencyConflict: stop(\n    422,",
    caughtBy: "server/api/endpoint-errors.db.test.ts",
  },

  {
    name: "sign-in-leads-away",
    file: "server/auth/callback-url.ts",
    find: ' || pathname.startsWith("//")',
    replace: "",
    caughtBy: "server/auth/callback-url.test.ts",
  },
  // Money.
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

  // A job runs once, and what became of it stays.
  {
    name: "key-of-header-ignored",
    file: "server/domain/envelope/normalize.ts",
    find: "return fromBody ?? fromHeader;",
    replace: "return fromBody;",
    caughtBy: "server/domain/jobs/admission/idempotency.db.test.ts",
  },
  {
    name: "key-taken-by-second-request",
    file: "server/domain/jobs/transitions/admission.ts",
    find: "ON CONFLICT (project_id, operation, idempotency_key) DO NOTHING",
    replace:
      "ON CONFLICT (project_id, operation, idempotency_key) DO UPDATE SET request_hash = excluded.request_hash",
    caughtBy: "server/domain/jobs/admission/idempotency.db.test.ts",
  },
  {
    name: "submission-marked-after-sending",
    file: "server/domain/jobs/transitions/attempt.ts",
    find: "UPDATE attempt SET submission = 'ambiguous', submission_begun_at = held.now FROM held",
    replace: "UPDATE attempt SET submission_begun_at = held.now FROM held",
    caughtBy: "server/domain/jobs/running/races.db.test.ts",
  },
  {
    name: "ambiguous-outcome-retried",
    file: "server/domain/jobs/running/sweep.ts",
    find: 'if (attempt && attempt.submission !== "not_attempted") return',
    replace: 'if (attempt && attempt.submission === "attempted") return',
    caughtBy: "server/domain/jobs/running/recovery.db.test.ts",
  },
  {
    name: "fence-not-checked",
    file: "server/domain/jobs/transitions/finish.ts",
    find: "(input.fence IS NULL OR job.fence = input.fence) AND ",
    replace: "",
    caughtBy: "server/domain/jobs/running/recovery.db.test.ts",
  },
  {
    name: "lease-not-checked",
    file: "server/domain/jobs/transitions/claim.ts",
    find: "WHEN status = 'running' THEN lease_until < input.now AND (",
    replace: "WHEN status = 'running' THEN (",
    caughtBy: "server/domain/jobs/running/recovery.db.test.ts",
  },
  {
    name: "terminal-status-changes",
    file: MIGRATION,
    find: "WHEN (OLD.\"status\" IN ('succeeded', 'failed', 'canceled') AND NEW",
    replace: "WHEN (OLD.\"status\" IN ('failed', 'canceled') AND NEW",
    caughtBy: "server/platform/db.db.test.ts",
  },
  {
    name: "terminal-status-has-a-move",
    file: "server/domain/jobs/transitions/moves.ts",
    find: "failed: [],",
    replace: 'failed: ["queued"],',
    caughtBy: "server/domain/jobs/running/races.db.test.ts",
  },
  {
    name: "wake-not-sent-again",
    file: "server/domain/jobs/running/sweep.ts",
    find: "  await resendDue(now, projectId);\n",
    replace: "",
    caughtBy: "server/domain/jobs/running/recovery.db.test.ts",
  },

  // What is told and kept.
  {
    name: "audit-row-missing",
    file: "server/domain/budgets/resolve.ts",
    find: 'if (by !== "late_answer")',
    replace: "if (charged < 0)",
    caughtBy: "server/domain/budgets/holds.db.test.ts",
  },
  {
    name: "audit-can-be-changed",
    file: MIGRATION,
    find: 'CREATE TRIGGER "audit_entry_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_entry"',
    replace: 'CREATE TRIGGER "audit_entry_append_only" BEFORE DELETE OR TRUNCATE ON "audit_entry"',
    caughtBy: "server/platform/db.db.test.ts",
  },
  {
    name: "receipt-signs-other-bytes",
    file: "server/domain/receipts/seal.ts",
    find: "...(await signBody(body)) };",
    replace: "...(await signBody(sha256Hex(body))) };",
    caughtBy: "server/domain/signing/keys.db.test.ts",
  },
  {
    name: "own-account-charged",
    file: "server/domain/executions/charge.ts",
    find: `"hold.billing_mode = 'managed' AND hold.state = 'settled'"`,
    replace: `"hold.state = 'settled'"`,
    caughtBy: "server/domain/usage/charges.isolated.test.ts",
  },
  {
    name: "fee-of-no-entry",
    file: "server/domain/executions/charge.ts",
    find: "entry.account = 'service_fee'",
    replace: "entry.account LIKE 'provider:%'",
    caughtBy: "server/domain/usage/charges.isolated.test.ts",
  },
  {
    name: "delivery-not-written",
    file: "server/domain/jobs/following/fan-out.ts",
    find: "event.id > behind.webhook_event ORDER BY",
    replace: "event.id > behind.webhook_event + 1 ORDER BY",
    caughtBy: "server/domain/webhooks/webhooks.db.test.ts",
  },
  {
    name: "webhook-signs-other-bytes",
    file: "server/domain/webhooks/sign.ts",
    find: 'createHmac("sha256", key).update(`',
    replace: 'createHmac("sha256", key).update(`v1.',
    caughtBy: "server/domain/webhooks/webhooks.db.test.ts",
  },
  {
    name: "blind-job-shows-model",
    file: "server/domain/jobs/reading/view.ts",
    find: "return job.is_blind ? blindJob(job, view, parts.shared) : view;",
    replace:
      "return job.is_blind ? { ...blindJob(job, view, parts.shared), diagnostics: view.diagnostics } : view;",
    caughtBy: "server/domain/jobs/reading/blind.db.test.ts",
  },
  {
    name: "blind-job-found-by-its-key",
    file: "server/domain/jobs/reading/history.ts",
    find: "provider || model || most || idempotencyKey ?",
    replace: "provider || model || most ?",
    caughtBy: "server/domain/jobs/reading/blind.db.test.ts",
  },
  {
    name: "rule-outlives-what-it-misses",
    file: "server/domain/catalog/search/neighbours.ts",
    find: '"transcribe, transcription,',
    replace: '"transcribe, text embedding, transcription,',
    caughtBy: "server/domain/catalog/search/search.db.test.ts",
  },
  {
    name: "own-limit-names-no-route",
    file: "server/domain/quotes/cheapest.ts",
    find: "if (!fits && !isOwnLimit) return refusal;",
    replace: "if (!fits) return refusal;",
    caughtBy: "server/operations/cheapest-route.db.test.ts",
  },
];
