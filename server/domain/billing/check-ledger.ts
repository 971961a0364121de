import { access } from "@/server/domain/access";
import type { Ctx } from "@/server/domain/ctx";
import { inTransaction } from "@/server/platform/db";
import { bool, int8, maybe, present, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

export type LedgerCheck = {
  isBalanced: boolean;
  transactions: number;
  entries: number;
  /** Sum of all postings by currency, live and test; each must be 0. */
  sums: { currency: string; isTest: boolean; sumMicros: number }[];
  wallets: number;
  windows: number;
  openHolds: number;
  /** Mismatches, at most `MOST_LISTED` of each check. */
  differences: { what: string; subject: string; expected: number; found: number }[];
};

/** Maximum number of differences listed per check. */
const MOST_LISTED = 100;

/** Compares wallets with the ledger and the holds. */
const WALLETS = `
  WITH posted AS (
    SELECT account, is_test, sum(amount_micros)::bigint AS micros FROM ledger_entry
    WHERE currency = 'USD' AND ($organizationId::text IS NULL OR organization_id = $organizationId) GROUP BY account, is_test
  ), held AS MATERIALIZED (
    SELECT organization_id, is_test, funding, sum(amount_micros) AS micros FROM hold
    WHERE state IN ('open', 'ambiguous') AND ($organizationId::text IS NULL OR organization_id = $organizationId) GROUP BY 1, 2, 3
  ), said AS (
    SELECT w.organization_id, w.is_test, w.balance_micros, w.held_micros, w.allowance_used_micros, w.allowance_held_micros,
      coalesce((SELECT p.micros FROM posted p WHERE p.account = 'wallet:' || w.organization_id AND p.is_test = w.is_test), 0)
        AS balance,
      coalesce((SELECT -p.micros FROM posted p WHERE p.account = 'allowance:' || w.organization_id AND p.is_test = w.is_test), 0)
        AS allowance_used,
      coalesce(of_wallet.micros, 0)::bigint AS held, coalesce(of_allowance.micros, 0)::bigint AS allowance_held
    FROM wallet w
    LEFT JOIN held of_wallet ON of_wallet.funding = 'wallet' AND of_wallet.organization_id = w.organization_id AND of_wallet.is_test = w.is_test
    LEFT JOIN held of_allowance
      ON of_allowance.funding = 'allowance' AND of_allowance.organization_id = w.organization_id AND of_allowance.is_test = w.is_test
    WHERE $organizationId::text IS NULL OR w.organization_id = $organizationId
  )
  SELECT (CASE WHEN is_test THEN 'test' ELSE 'live' END) || ' wallet: ' || figure.name AS what, organization_id AS subject,
    figure.expected, figure.found
  FROM said, LATERAL (VALUES ('balance', balance, balance_micros), ('reserved', held, held_micros::bigint),
    ('allowance used', allowance_used, allowance_used_micros::bigint),
    ('allowance reserved', allowance_held, allowance_held_micros::bigint)) AS figure(name, expected, found)
  WHERE figure.expected <> figure.found
  UNION ALL
  SELECT 'ledger without a wallet: ' || e.account, e.organization_id, 0, sum(e.amount_micros)::bigint
  FROM ledger_entry e
  WHERE e.account IN ('wallet:' || e.organization_id, 'allowance:' || e.organization_id)
    AND ($organizationId::text IS NULL OR e.organization_id = $organizationId)
    AND NOT EXISTS (SELECT FROM wallet w WHERE w.organization_id = e.organization_id AND w.is_test = e.is_test)
  GROUP BY e.account, e.organization_id, e.is_test HAVING sum(e.amount_micros) <> 0`;

/**
 * Compares the counted spend of each budget window with the holds of its period. The holds are read once, and
 * the budgets that count them are looked up once for each kind of caller.
 */
const WINDOWS = `
  WITH spent AS MATERIALIZED (
    SELECT h.organization_id, h.project_id, h.principal_id, h.person_id, h.billing_mode, h.credential_ids, h.is_test,
      date_trunc('day', h.created_at, 'UTC') AS day,
      coalesce(sum(h.amount_micros) FILTER (WHERE h.state IN ('open', 'ambiguous')), 0)::bigint AS held,
      coalesce(sum(h.settled_micros) FILTER (WHERE h.state = 'settled'), 0)::bigint AS settled
    FROM hold h
    WHERE ($organizationId::text IS NULL OR h.organization_id = $organizationId)
      AND EXISTS (SELECT FROM budget b WHERE b.organization_id = h.organization_id)
    GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
  ), caller AS MATERIALIZED (
    SELECT kind.*, ARRAY(
      SELECT b.id FROM budget b WHERE b.organization_id = kind.organization_id AND b.enforcement <> 'off'
        AND (NOT b.managed_only OR kind.billing_mode = 'managed')
        AND b.scope = ANY(capstan_scopes(kind.organization_id, kind.project_id, kind.principal_id, kind.person_id, kind.billing_mode,
          kind.credential_ids))) AS budgets
    FROM (SELECT DISTINCT organization_id, project_id, principal_id, person_id, billing_mode, credential_ids FROM spent) kind
  ), counted AS (
    SELECT b.id, capstan_period_start(b.period, spent.day) AS start, spent.is_test, sum(spent.held)::bigint AS held,
      sum(spent.settled)::bigint AS settled
    FROM spent JOIN caller ON caller.organization_id = spent.organization_id AND caller.project_id = spent.project_id
        AND caller.principal_id = spent.principal_id AND caller.billing_mode = spent.billing_mode
        AND caller.credential_ids IS NOT DISTINCT FROM spent.credential_ids AND caller.person_id IS NOT DISTINCT FROM spent.person_id
      CROSS JOIN unnest(caller.budgets) AS counting(id) JOIN budget b ON b.id = counting.id
    GROUP BY 1, 2, 3
  ), compared AS (
    SELECT b.scope, b.period, w.held_micros, w.settled_micros, coalesce(counted.held, 0) AS held,
      coalesce(counted.settled, 0) AS settled
    FROM budget_window w JOIN budget b ON b.id = w.budget_id
      LEFT JOIN counted ON counted.id = b.id AND counted.start = w.period_start AND counted.is_test = w.is_test
    WHERE b.enforcement <> 'off' AND ($organizationId::text IS NULL OR b.organization_id = $organizationId)
  )
  SELECT 'budget by ' || period || ': ' || figure.name AS what, scope AS subject, figure.expected, figure.found
  FROM compared, LATERAL (VALUES ('reserved', held, held_micros::bigint), ('settled', settled, settled_micros::bigint))
    AS figure(name, expected, found)
  WHERE figure.expected <> figure.found`;

/** Compares settled holds with the ledger's charges for their executions. */
const HOLDS = `
  SELECT 'hold settled otherwise than charged' AS what, h.id AS subject, h.settled_micros::bigint AS expected,
    coalesce(charged.micros, 0)::bigint AS found
  FROM hold h LEFT JOIN (
    SELECT job_id, -sum(amount_micros) AS micros FROM ledger_entry
    WHERE job_id IS NOT NULL AND account IN ('wallet:' || organization_id, 'allowance:' || organization_id, 'external:' || organization_id)
    GROUP BY job_id
  ) charged ON charged.job_id = h.execution_id
  WHERE h.state = 'settled' AND ($organizationId::text IS NULL OR h.organization_id = $organizationId)
    AND coalesce(charged.micros, 0) <> h.settled_micros`;

/** Compares each payment, less refunds and lost disputes, with its ledger entries. */
const PAYMENTS = `
  WITH kept AS (
    SELECT p.id, p.provider, p.currency, CASE p.state WHEN 'paid' THEN greatest(0, p.amount_micros + p.tax_micros - p.refunded_micros
      - coalesce((SELECT sum((value->>'amountMicros')::bigint) FROM jsonb_each(p.disputes) WHERE value->>'outcome' = 'lost'), 0))
      ELSE 0 END::bigint AS micros
    FROM payment p WHERE $organizationId::text IS NULL OR p.organization_id = $organizationId
  ), booked AS (
    SELECT payment_id, account, currency, -sum(amount_micros)::bigint AS micros FROM ledger_entry
    WHERE payment_id IS NOT NULL AND ($organizationId::text IS NULL OR organization_id = $organizationId) GROUP BY 1, 2, 3
  )
  SELECT 'payment booked otherwise than it stands' AS what, kept.id AS subject, kept.micros AS expected,
    coalesce(booked.micros, 0)::bigint AS found
  FROM kept LEFT JOIN booked ON booked.payment_id = kept.id AND booked.account = 'payments:' || kept.provider
    AND booked.currency = kept.currency
  WHERE coalesce(booked.micros, 0) <> kept.micros`;

const ONLY = { organizationId: maybe(text) };

const differencesOf = (name: string, sql: string) =>
  statement(`ledger.check.${name}`, {
    params: ONLY,
    row: {
      what: present(text, "joined of texts"),
      subject: present(text, "an id"),
      expected: present(int8, "a sum, or 0"),
      found: present(int8, "a sum, or 0"),
    },
    sql: `${sql} LIMIT ${MOST_LISTED}`,
  });
const CHECKS = [
  differencesOf("wallets", WALLETS),
  differencesOf("windows", WINDOWS),
  differencesOf("holds", HOLDS),
  differencesOf("payments", PAYMENTS),
];

const listSums = statement("ledger.check.sums", {
  params: ONLY,
  row: { currency: text, isTest: bool, sumMicros: present(int8, "a sum of at least one posting") },
  sql: `SELECT currency, is_test AS "isTest", sum(amount_micros)::bigint AS "sumMicros" FROM ledger_entry
     WHERE $organizationId::text IS NULL OR organization_id = $organizationId GROUP BY 1, 2 ORDER BY 1, 2`,
});

const readCounts = statement("ledger.check.counts", {
  params: ONLY,
  row: { transactions: int8, entries: int8, wallets: int8, windows: int8, openHolds: int8 },
  sql: `SELECT (SELECT count(*) FROM ledger_transaction WHERE $organizationId::text IS NULL OR organization_id = $organizationId) AS transactions,
      (SELECT count(*) FROM ledger_entry WHERE $organizationId::text IS NULL OR organization_id = $organizationId) AS entries,
      (SELECT count(*) FROM wallet WHERE $organizationId::text IS NULL OR organization_id = $organizationId) AS wallets,
      (SELECT count(*) FROM budget_window w JOIN budget b ON b.id = w.budget_id
        WHERE $organizationId::text IS NULL OR b.organization_id = $organizationId) AS windows,
      (SELECT count(*) FROM hold WHERE state IN ('open', 'ambiguous')
        AND ($organizationId::text IS NULL OR organization_id = $organizationId)) AS "openHolds"`,
});

/**
 * Compares wallets, budget windows, settled holds and payments with the ledger and the holds, in one snapshot.
 * This does not check that a transaction sums to zero, because the database rejects any other. For operators;
 * covers one organization, or all.
 */
export async function checkLedger(ctx: Ctx, organizationId?: string): Promise<LedgerCheck> {
  access.authorize(ctx, "operator");
  return inTransaction(async (client) => {
    await client.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
    const only = { organizationId };
    const differences: LedgerCheck["differences"] = [];
    for (const list of CHECKS) differences.push(...(await list.all(client, only)));
    const sums = await listSums.all(client, only);
    const counts = await readCounts.first(client, only);
    return { isBalanced: differences.length === 0, ...counts!, sums, differences }; // the statement returns one row
  });
}
