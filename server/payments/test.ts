import type { PaymentProvider } from "./define";

/** The built-in checkout: a page of ours on which nothing is paid. Outside production only, and for sandbox money only. */
export function testProvider(publicUrl: string): PaymentProvider {
  return {
    name: "test",
    isTest: true,
    leastMicros: 10_000,
    async openCheckout({ paymentId }) {
      return { sessionId: `checkout_${paymentId}`, url: `${publicUrl}/checkout/test/${paymentId}` };
    },
  };
}
