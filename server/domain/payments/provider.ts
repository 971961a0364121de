import { type PaymentProvider, PaymentProviderDown } from "@/server/payments/define";
import { type StripeSettings, stripeProvider } from "@/server/payments/stripe";
import { testProvider } from "@/server/payments/test";
import { fail } from "@/server/platform/errors/errors";
import { env, publicUrl } from "@/server/platform/settings/env";

let last: { settings: StripeSettings; provider: PaymentProvider } | undefined;

/** Returns Stripe; null unless its key and webhook secret are both set. */
export function findStripe(): PaymentProvider | null {
  const {
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_WEBHOOK_SECRET: webhookSecret,
    STRIPE_API_BASE: apiBase,
    STRIPE_TAX: addsTax,
  } = env;
  if (!secretKey || !webhookSecret) return null;
  const settings = { secretKey, webhookSecret, apiBase, addsTax };
  if (!last || JSON.stringify(last.settings) !== JSON.stringify(settings))
    last = { settings, provider: stripeProvider(settings) };
  return last.provider;
}

const builtIn = testProvider(publicUrl);

/**
 * Returns the provider of new payments: Stripe, or else the built-in test checkout. Null in production
 * without Stripe.
 */
export function findPaymentProvider(): PaymentProvider | null {
  return findStripe() ?? (env.CAPSTAN_ENV === "production" ? null : builtIn);
}

/**
 * Returns the provider that took a payment, even if new payments use another. Throws PaymentProviderDown if
 * it is not set up.
 */
export function providerNamed(name: string): PaymentProvider {
  if (name === builtIn.name) return builtIn;
  const stripe = findStripe();
  if (stripe?.name !== name) throw new PaymentProviderDown(`the payment provider ${name} is not set up`);
  return stripe;
}

export function requireProvider(): PaymentProvider {
  return findPaymentProvider() ?? notConfigured();
}

export function requireStripe(): PaymentProvider {
  return findStripe() ?? notConfigured();
}

function notConfigured(): never {
  fail(
    "billing_not_configured",
    "Payments are not set up in this installation. Ask your operator, or connect your own provider account.",
  );
}
