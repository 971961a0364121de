import type { PaymentProvider } from "./define";

/** The built-in checkout: a page of ours on which nothing is paid. Outside production only, and for test money only. */
export function testProvider(publicUrl: string): PaymentProvider {
  return {
    name: "test",
    isTest: true,
    leastMicros: 10_000,
    addsTax: false,
    async openCheckout({ paymentId }) {
      return { sessionId: testSession(paymentId), url: `${publicUrl}/checkout/test/${paymentId}` };
    },
    async closeCheckout() {
      // Its page asks our own rows.
    },
    async refund({ paymentId, providerPaymentId, paidMicros, currency, at }) {
      return {
        state: "taken",
        message: {
          id: `${paymentId}_refund`,
          type: "charge.refunded",
          at,
          isTest: true,
          news: {
            about: "refund",
            paymentId,
            providerPaymentId,
            amountMicros: paidMicros,
            currency,
            refundedMicros: paidMicros,
            beforeMicros: null,
          },
        },
      };
    },
  };
}

export const testSession = (paymentId: string) => `checkout_${paymentId}`;
/** What the built-in checkout calls a payment once it is paid. */
export const testPaymentName = (paymentId: string) => `test_${paymentId}`;
