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
/** For development only; production never uses this rate. */
const DEVELOPMENT_USD_CAD = 1.37;

/** Billing settings within an organization's settings, which also hold other kinds. */
const Stored = z.looseObject({
  billingCurrency: BillingCurrency.default("USD"),
  billingCountry: z.string().optional(),
  billingLocale: z.string().optional(),
});

/**
 * Returns the rate from US dollars to another currency; null for US dollars. Throws billing_not_configured
 * (402) if no rate is set.
 */
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

/** Returns the currencies that an organization of this installation can pay in. */
export const payableIn = (): readonly BillingCurrency[] =>
  env.FX_USD_CAD !== undefined || env.CAPSTAN_ENV !== "production" ? BILLING_CURRENCIES : ["USD"];

/** Converts US dollars into the other currency, rounded up to whole cents. */
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
  const found = await readSettings.first(pool, { organizationId });
  return Stored.parse((found ?? unknownOrganization()).settings);
}

/** Returns the currency, country and locale that an organization is billed in. */
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

/**
 * Changes the billing settings for future payments; the wallet stays in US dollars. For admins of the
 * organization.
 */
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
 * Returns the rate for showing US dollars in the organization's billing currency. Null means that dollars
 * are shown, also if the installation no longer has a rate.
 */
export function presentationFor(organizationSettings: unknown): ScaledFxRate | null {
  const { billingCurrency } = Stored.parse(organizationSettings);
  if (billingCurrency === "USD" || (env.CAPSTAN_ENV === "production" && !env.FX_USD_CAD)) return null;
  return rateTo(billingCurrency);
}

/** Converts US dollars for display in the other currency, to the micro, rounded half up. */
export function toPresentationMoney(usdMicros: Micros, fx: ScaledFxRate): PresentationMoney {
  const scaled = BigInt(usdMicros) * BigInt(fx.rateScaled);
  return { convertedTotal: toMoney(Number((scaled + FACTOR / 2n) / FACTOR), fx.quoteCurrency), fx };
}
