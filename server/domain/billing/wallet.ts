import type {
  Wallet,
  WalletMoney,
  WalletTransaction,
  WalletTransactionPage,
  WalletTransactionsQuery,
} from "@/server/contract/billing";
import { pool } from "@/server/db";
import { ALLOWANCE_MICROS, TRIAL_CEILING_MICROS } from "@/server/domain/budgets";
import type { Ctx } from "@/server/domain/ctx";
import { billedOrganization } from "@/server/domain/organizations";
import { toMoney } from "@/server/money";
import { billingSettings, presentationFor } from "./currency";

/** What managed work costs beside the provider's price, in hundredths of a percent. */
export const SERVICE_FEE_BPS = 600;

type WalletRow = {
  is_test: boolean;
  balance_micros: number;
  held_micros: number;
  allowance_micros: number;
  allowance_used_micros: number;
  allowance_held_micros: number;
};

/** An organization that has run nothing has no row yet, and its whole allowance. */
const untouched = (is_test: boolean): WalletRow => ({
  is_test,
  balance_micros: 0,
  held_micros: 0,
  allowance_micros: ALLOWANCE_MICROS,
  allowance_used_micros: 0,
  allowance_held_micros: 0,
});

async function readPurses(organizationId: string): Promise<{ live: WalletRow; test: WalletRow }> {
  const { rows } = await pool.query<WalletRow>({
    name: "wallets-of",
    // What a blind comparison has cost so far counts as held until no part of it is open any more.
    text: `SELECT w.is_test, w.balance_micros + veiled.charged AS balance_micros, w.held_micros + veiled.held AS held_micros,
             w.allowance_micros, w.allowance_used_micros - veiled.allowance_charged AS allowance_used_micros,
             w.allowance_held_micros + veiled.allowance_held AS allowance_held_micros
           FROM wallet w, LATERAL (
             SELECT coalesce(sum(h.amount_micros) FILTER (WHERE h.funding = 'wallet'), 0)::bigint AS held,
               coalesce(sum(h.settled_micros) FILTER (WHERE h.funding = 'wallet'), 0)::bigint AS charged,
               coalesce(sum(h.amount_micros) FILTER (WHERE h.funding = 'allowance'), 0)::bigint AS allowance_held,
               coalesce(sum(h.settled_micros) FILTER (WHERE h.funding = 'allowance'), 0)::bigint AS allowance_charged
             FROM capstan_veiled(w.organization_id) h WHERE h.is_test = w.is_test) veiled
           WHERE w.organization_id = $1`,
    values: [organizationId],
  });
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

/** What an organization has to spend on managed work, live and of the sandbox. For keys that read billing, and viewers. */
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

/** What an organization can still run managed: of the one-time allowance, and of the prepaid balance. */
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
  submitted_at: Date | null;
  comparison_micros: number | null;
  comparison_purse: string | null;
};

/**
 * The entry of a blind comparison that stands for all of it, with what it came to: the charge of the job that ended last,
 * whichever purse paid for it. Nothing of it is told before no part of it is open any more.
 */
const COMPARISON = `LEFT JOIN job blind ON blind.id = e.job_id AND blind.is_blind
  LEFT JOIN LATERAL (
    SELECT other.id AS last_job, sum(h.settled_micros) OVER ()::bigint AS micros,
      CASE WHEN bool_or(h.funding = 'wallet') OVER () THEN 'wallet:' ELSE 'allowance:' END AS purse
    FROM job other JOIN hold h ON h.execution_id = other.id
    WHERE other.is_blind AND other.organization_id = blind.organization_id AND other.project_id = blind.project_id
      AND other.comparison_id = blind.comparison_id
      AND h.is_test = e.is_test AND h.settled_micros > 0
    ORDER BY other.completed_at DESC, other.id DESC LIMIT 1) whole ON true`;
const IS_SHOWN = `(blind.id IS NULL OR (e.kind = 'charge' AND blind.id = whole.last_job
  AND NOT capstan_is_open(blind.organization_id, blind.project_id, blind.comparison_id)))`;

/**
 * Everything that ever moved an organization's wallet and allowance, newest first; nothing of it changes, but that a blind
 * comparison is one entry until it is judged. A key sees of the charges those of its environment, and of its project where it is
 * bound to one; entries that are the organization's own it sees all.
 */
export async function walletTransactions(
  ctx: Ctx,
  query: WalletTransactionsQuery,
): Promise<WalletTransactionPage> {
  const organizationId = billedOrganization(ctx, query.organizationId, "viewer");
  const { principal } = ctx;
  const { projectId, environment } =
    principal.kind === "service_principal" ? principal : { projectId: null, environment: null };
  const { rows } = await pool.query<EntryRow>({
    name: "wallet-transactions",
    text: `SELECT entry.* FROM unnest(ARRAY['wallet:' || $1, 'allowance:' || $1]) AS own(account),
             LATERAL (
               SELECT e.*, blind.comparison_id, blind.created_at AS submitted_at, whole.micros AS comparison_micros,
                 whole.purse AS comparison_purse
               FROM ledger_entry e ${COMPARISON}
               WHERE e.account = own.account AND e.id < $2 AND ${IS_SHOWN}
               AND ($3::boolean IS NULL OR e.is_test = $3)
               AND ($4::text IS NULL OR e.project_id IS NULL OR e.project_id = $4)
               AND ($6::text IS NULL OR e.job_id IS NULL OR EXISTS (
                 SELECT FROM execution WHERE execution.id = e.job_id AND execution.environment = $6))
               ORDER BY e.id DESC LIMIT $5) entry
           ORDER BY entry.id DESC LIMIT $5`,
    values: [
      organizationId,
      query.cursor ?? Number.MAX_SAFE_INTEGER,
      query.test ?? null,
      projectId,
      query.limit + 1,
      environment,
    ],
  });
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  return {
    items: page.map(toTransaction),
    ...(rows.length > query.limit && last ? { nextCursor: String(last.id) } : {}),
  };
}

function toTransaction(row: EntryRow): WalletTransaction {
  return {
    entryId: String(row.id),
    transactionId: row.comparison_id ?? row.transaction_id,
    account: ((row.comparison_id && row.comparison_purse) || row.account).startsWith("wallet:")
      ? "wallet"
      : "allowance",
    kind: row.kind,
    amount: toMoney(row.comparison_id ? -(row.comparison_micros ?? 0) : row.amount_micros, row.currency),
    test: row.is_test,
    projectId: row.project_id,
    jobId: row.comparison_id ? null : row.job_id,
    comparisonId: row.comparison_id,
    paymentId: row.payment_id,
    pricingVersion: row.comparison_id ? null : row.pricing_version,
    createdAt: (row.submitted_at ?? row.created_at).toISOString(),
  };
}
