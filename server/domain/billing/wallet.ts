import type {
  Wallet,
  WalletMoney,
  WalletTransaction,
  WalletTransactionPage,
  WalletTransactionsQuery,
} from "@/server/contract/billing";
import { SERVICE_FEE_BPS } from "@/server/contract/pricing";
import { ALLOWANCE_MICROS, TRIAL_CEILING_MICROS } from "@/server/domain/budgets";
import type { Ctx } from "@/server/domain/ctx";
import { billedOrganization } from "@/server/domain/organizations";
import { BOUND, toPage } from "@/server/domain/paging";
import { wallet as walletTable } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { toMoney } from "@/server/platform/money";
import { bool, column, int8, maybe, pick, present, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { billingSettings, presentationFor } from "./currency";

type WalletRow = {
  is_test: boolean;
  balance_micros: number;
  held_micros: number;
  allowance_micros: number;
  allowance_used_micros: number;
  allowance_held_micros: number;
};

/** An organization without a row has never reserved or received money, so its whole allowance is left. */
const untouched = (is_test: boolean): WalletRow => ({
  is_test,
  balance_micros: 0,
  held_micros: 0,
  allowance_micros: ALLOWANCE_MICROS,
  allowance_used_micros: 0,
  allowance_held_micros: 0,
});

const listWallets = statement("wallet.list.organization", {
  params: { organizationId: text },
  row: pick(
    walletTable,
    "is_test balance_micros held_micros allowance_micros allowance_used_micros allowance_held_micros",
  ),
  sql: `SELECT is_test, balance_micros, held_micros, allowance_micros, allowance_used_micros, allowance_held_micros
           FROM wallet WHERE organization_id = $organizationId`,
  prepared: true,
});

async function readPurses(organizationId: string): Promise<{ live: WalletRow; test: WalletRow }> {
  const rows = await listWallets.all(pool, { organizationId });
  const of = (isTest: boolean) => rows.find((row) => row.is_test === isTest) ?? untouched(isTest);
  return { live: of(false), test: of(true) };
}

const allowanceLeft = (row: WalletRow) =>
  Math.max(0, row.allowance_micros - row.allowance_used_micros - row.allowance_held_micros);

function toWalletMoney(row: WalletRow): WalletMoney {
  return {
    available: toMoney(row.balance_micros - row.held_micros),
    reserved: toMoney(row.held_micros + row.allowance_held_micros),
    balance: toMoney(row.balance_micros),
    allowance: {
      granted: toMoney(row.allowance_micros),
      used: toMoney(row.allowance_used_micros),
      reserved: toMoney(row.allowance_held_micros),
      remaining: toMoney(allowanceLeft(row)),
    },
  };
}

/**
 * Returns an organization's funds for managed work, live and test. For viewers, and for keys that may read
 * billing.
 */
export async function wallet(ctx: Ctx, named?: string): Promise<Wallet> {
  const organizationId = billedOrganization(ctx, named, "viewer");
  const [settings, { live, test }] = await Promise.all([
    billingSettings(organizationId),
    readPurses(organizationId),
  ]);
  return {
    organizationId,
    billingCurrency: settings.billingCurrency,
    trialCeiling: toMoney(TRIAL_CEILING_MICROS),
    serviceFeeBps: SERVICE_FEE_BPS,
    ...toWalletMoney(live),
    test: toWalletMoney(test),
    fx: presentationFor(settings),
  };
}

/** Returns the remaining funds for managed work, from the allowance and the prepaid balance. */
export async function fundsOf(organizationId: string, isTest: boolean) {
  const purses = await readPurses(organizationId);
  const row = isTest ? purses.test : purses.live;
  return { allowanceMicros: allowanceLeft(row), walletMicros: row.balance_micros - row.held_micros };
}

type EntryRow = {
  id: number;
  transaction_id: string;
  account: string;
  kind: string;
  amount_micros: number;
  currency: string;
  is_test: boolean;
  project_id: string | null;
  job_id: string | null;
  payment_id: string | null;
  pricing_version: string | null;
  created_at: Date;
  comparison_id: string | null;
};

const listLines = statement("account_line.list.own", {
  params: {
    organizationId: text,
    before: column<number | string>("int8"),
    notBefore: int8,
    test: maybe(bool),
    projectId: maybe(text),
    limit: int8,
  },
  row: {
    id: present(int8, "of a transaction, or the least of several"),
    transaction_id: present(text, "a transaction's id, or that of its comparison"),
    organization_id: text,
    project_id: maybe(text),
    job_id: maybe(text),
    comparison_id: maybe(text),
    payment_id: maybe(text),
    account: present(text, "of a transaction, or the greatest of several"),
    amount_micros: present(int8, "never null in a posting"),
    currency: text,
    kind: present(text, "never null in a posting"),
    pricing_version: maybe(text),
    is_test: bool,
    created_at: present(timestamptz, "the time of a transaction, or of a first job"),
  },
  sql: `WITH blind AS MATERIALIZED (SELECT id, comparison_id, project_id, created_at FROM job WHERE is_blind AND organization_id = $organizationId),
      line AS (
        SELECT entry.* FROM unnest(ARRAY['wallet:' || $organizationId, 'allowance:' || $organizationId]) AS own(account), LATERAL (
          SELECT t.id, t.transaction_id, t.organization_id, t.project_id, t.job_id, NULL::text AS comparison_id, t.payment_id, t.account,
            (t.postings->0->>'amount_micros')::bigint AS amount_micros, coalesce(t.postings->0->>'currency', 'USD') AS currency,
            t.postings->0->>'kind' AS kind, t.pricing_version, t.is_test, t.created_at
          FROM ledger_transaction t
          WHERE t.organization_id = $organizationId AND t.account = own.account AND t.id < $before AND t.id >= $notBefore
            AND (t.job_id IS NULL OR t.job_id <> ALL (ARRAY(SELECT id FROM blind)))
            AND ($test::boolean IS NULL OR t.is_test = $test)
            AND ($projectId::text IS NULL OR t.project_id IS NULL OR t.project_id = $projectId)
          ORDER BY t.id DESC LIMIT $limit
        ) entry
      ), compared AS (
        SELECT min(t.id) AS id, blind.comparison_id AS transaction_id, t.organization_id, blind.project_id, NULL::text AS job_id,
          blind.comparison_id, NULL::text AS payment_id, max(t.account) AS account,
          sum((t.postings->0->>'amount_micros')::bigint)::bigint AS amount_micros, 'USD' AS currency, 'charge' AS kind,
          NULL::text AS pricing_version, t.is_test, min(blind.created_at) AS created_at
        FROM blind JOIN LATERAL (SELECT * FROM ledger_transaction WHERE hold_id = capstan_hold_id(blind.id) OFFSET 0) t
          ON t.account IN ('wallet:' || $organizationId, 'allowance:' || $organizationId)
        WHERE ($test::boolean IS NULL OR t.is_test = $test) AND ($projectId::text IS NULL OR blind.project_id = $projectId)
        GROUP BY blind.comparison_id, t.organization_id, blind.project_id, t.is_test
        HAVING min(t.id) < $before AND min(t.id) >= $notBefore
      )
      SELECT * FROM (SELECT * FROM line UNION ALL SELECT * FROM compared) listed ORDER BY id DESC LIMIT $limit`,
  prepared: true,
});

/** The last entry, of both accounts together, that a page may read. No row if there are fewer entries. */
const readLastLine = statement("ledger_transaction.read.last", {
  params: { organizationId: text, before: column<number | string>("int8"), after: int8 },
  row: { id: int8 },
  sql: `SELECT entry.id FROM unnest(ARRAY['wallet:' || $organizationId, 'allowance:' || $organizationId]) AS own(account), LATERAL (
      SELECT id FROM ledger_transaction WHERE account = own.account AND id < $before ORDER BY id DESC LIMIT $after::bigint + 1
    ) entry ORDER BY id DESC OFFSET $after LIMIT 1`,
});

/**
 * Lists all entries of an organization's wallet and allowance, newest first. Entries never change, except
 * that a comparison is one entry until it is judged. A key of a project sees the entries of that project
 * and those without a project.
 */
export async function walletTransactions(
  ctx: Ctx,
  query: WalletTransactionsQuery,
): Promise<WalletTransactionPage> {
  const organizationId = billedOrganization(ctx, query.organizationId, "viewer");
  const { principal } = ctx;
  const projectId = principal.kind === "service_principal" ? principal.projectId : null;
  const before = query.cursor ?? Number.MAX_SAFE_INTEGER;
  const isFiltered = query.test !== undefined || projectId !== null;
  const last = isFiltered
    ? await readLastLine.first(pool, { organizationId, before, after: BOUND.entries - 1 })
    : null;
  const rows = await listLines.all(pool, {
    organizationId,
    before,
    notBefore: last?.id ?? 0,
    test: query.test ?? null,
    projectId,
    limit: query.limit + 1,
  });
  return toPage(rows, query.limit, toTransaction, last && String(last.id));
}

function toTransaction(row: EntryRow): WalletTransaction {
  return {
    entryId: String(row.id),
    transactionId: row.transaction_id,
    account: row.account.startsWith("wallet:") ? "wallet" : "allowance",
    kind: row.kind,
    amount: toMoney(row.amount_micros, row.currency),
    test: row.is_test,
    projectId: row.project_id,
    jobId: row.job_id,
    comparisonId: row.comparison_id,
    paymentId: row.payment_id,
    pricingVersion: row.pricing_version,
    createdAt: row.created_at.toISOString(),
  };
}
