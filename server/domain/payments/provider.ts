import { env, publicUrl } from "@/server/env";
import { fail } from "@/server/errors";
import type { PaymentProvider } from "@/server/payments/define";
import { type StripeSettings, stripeProvider } from "@/server/payments/stripe";
import { testProvider } from "@/server/payments/test";

let last: { settings: StripeSettings; provider: PaymentProvider } | undefined;

/** Stripe, when its key and the secret of its webhooks are set. */
export function findStripe(): PaymentProvider | null {
  const {
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_WEBHOOK_SECRET: webhookSecret,
    STRIPE_API_BASE: apiBase,
  } = env;
  if (!secretKey || !webhookSecret) return null;
  const settings = { secretKey, webhookSecret, apiBase };
  if (!last || JSON.stringify(last.settings) !== JSON.stringify(settings))
    last = { settings, provider: stripeProvider(settings) };
  return last.provider;
}

const builtIn = testProvider(publicUrl);

/** How people pay here: by Stripe, else by the built-in test checkout, which production never has. */
export function findProvider(): PaymentProvider | null {
  return findStripe() ?? (env.CAPSTAN_ENV === "production" ? null : builtIn);
}

export function requireProvider(): PaymentProvider {
  return findProvider() ?? notConfigured();
}

export function requireStripe(): PaymentProvider {
  return findStripe() ?? notConfigured();
}

function notConfigured(): never {
  fail("billing_not_configured", "Payments are not set up in this installation.");
}
