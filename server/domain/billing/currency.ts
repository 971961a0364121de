import { z } from "zod";
import {
  BillingCurrency,
  type BillingCurrencySettings,
  type BillingCurrencyUpdate,
  type ScaledFxRate,
} from "@/server/contract/billing";
import { BILLING_CURRENCIES } from "@/server/contract/enums";
import type { ReceiptPricing } from "@/server/contract/pricing";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { billedOrganization, unknownOrganization } from "@/server/domain/organizations";
import type { Settings } from "@/server/domain/plans";
import { organization } from "@/server/generated/schema";
import { inTransaction, pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { type Micros, toMoney } from "@/server/platform/money";
import { env } from "@/server/platform/settings/env";
import { jsonb, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

type PresentationMoney = NonNullable<ReceiptPricing["presentation"]>;

const SCALE = 8;
const FACTOR = 10n ** BigInt(SCALE);
const MICROS_PER_CENT = 10_000n;
/** For trying out; never used where money is real. */
const DEVELOPMENT_USD_CAD = 1.37;

/** What an organization's settings say of its billing, beside settings of other kinds. */
const Stored = z.looseObject({
  billingCurrency: BillingCurrency.default("USD"),
  billingCountry: z.string().optional(),
  billingLocale: z.string().optional(),
});

/** The rate from US dollars to another currency; null: the same currency. Without one, 402 billing_not_configured. */
export function rateTo(currency: BillingCurrency): ScaledFxRate | null {
  if (currency === "USD") return null;
  const rate = env.FX_USD_CAD ?? (env.CAPSTAN_ENV === "production" ? undefined : DEVELOPMENT_USD_CAD);
  if (rate === undefined) {
    fail(
      "billing_not_configured",
      `Billing in ${currency} is not set up in this installation. Ask your operator to set it up, or pay in another currency.`,
      {
        currency,
      },
    );
  }
  return {
    rateScaled: Math.round(rate * Number(FACTOR)),
    scale: SCALE,
    baseCurrency: "USD",
    quoteCurrency: currency,
    source: env.FX_USD_CAD === undefined ? "development" : "operator",
    asOf: null,
  };
}

/** The currencies that an organization of this installation can pay in. */
export const payableIn = (): readonly BillingCurrency[] =>
  env.FX_USD_CAD !== undefined || env.CAPSTAN_ENV !== "production" ? BILLING_CURRENCIES : ["USD"];

/** What an amount in US dollars costs in the other currency: whole cents, rounded up. */
export function convertUp(usdMicros: Micros, fx: ScaledFxRate): Micros {
  const scaled = BigInt(usdMicros) * BigInt(fx.rateScaled);
  const unit = FACTOR * MICROS_PER_CENT;
  return Number(((scaled + unit - 1n) / unit) * MICROS_PER_CENT);
}

const readSettings = statement("organization.read.billing_currency", {
  params: { organizationId: text },
  row: { settings: organization.settings },
  sql: `SELECT settings FROM organization WHERE id = $organizationId`,
  prepared: true,
});

async function findSettings(organizationId: string): Promise<z.output<typeof Stored>> {
  const rows = await readSettings.all(pool, { organizationId });
  return Stored.parse((rows[0] ?? unknownOrganization()).settings);
}

/** The currency, country and locale an organization is billed in. */
export async function billingSettings(organizationId: string): Promise<BillingCurrencySettings> {
  const { billingCurrency, billingCountry, billingLocale } = await findSettings(organizationId);
  return {
    organizationId,
    billingCurrency,
    ...(billingCountry ? { billingCountry } : {}),
    ...(billingLocale ? { billingLocale } : {}),
  };
}

const mergeSettings = statement("organization.update.billing_currency", {
  params: { organizationId: text, change: jsonb<Settings>() },
  sql: `UPDATE organization SET settings = settings || $change::jsonb WHERE id = $organizationId`,
});

/** Changes them, for payments from now on; the wallet stays in US dollars. For admins of the organization. */
export async function setBillingCurrency(
  ctx: Ctx,
  named: string | undefined,
  update: BillingCurrencyUpdate,
): Promise<BillingCurrencySettings> {
  const organizationId = billedOrganization(ctx, named, "admin");
  rateTo(update.billingCurrency);
  const change = Object.fromEntries(Object.entries(update).filter(([, value]) => value != null));
  await inTransaction(async (client) => {
    const rowCount = await mergeSettings.count(client, { organizationId, change });
    if (rowCount === 0) unknownOrganization();
    await record(
      ctx,
      { organizationId, action: "billing.currency_set", subject: organizationId, details: change },
      client,
    );
  });
  return billingSettings(organizationId);
}

/**
 * How amounts in US dollars may be shown to an organization billed in another currency, by its settings; null: as they
 * are. An installation that lost its rate still shows dollars.
 */
export function presentationFor(organizationSettings: unknown): ScaledFxRate | null {
  const { billingCurrency } = Stored.parse(organizationSettings);
  if (billingCurrency === "USD" || (env.CAPSTAN_ENV === "production" && !env.FX_USD_CAD)) return null;
  return rateTo(billingCurrency);
}

/** An amount in US dollars as it is shown in the other currency: to the micro, rounded half up. */
export function present(usdMicros: Micros, fx: ScaledFxRate): PresentationMoney {
  const scaled = BigInt(usdMicros) * BigInt(fx.rateScaled);
  return { convertedTotal: toMoney(Number((scaled + FACTOR / 2n) / FACTOR), fx.quoteCurrency), fx };
}
