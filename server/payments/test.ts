import type { PaymentProvider } from "./define";

/** The built-in checkout: a page of ours on which no money moves. It exists outside production only, for test money only. */
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
      // The page reads our own rows, so there is nothing to close.
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
/** The provider id that the built-in checkout gives a paid payment. */
export const testPaymentName = (paymentId: string) => `test_${paymentId}`;
