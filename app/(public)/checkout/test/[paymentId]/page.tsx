import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { TestCheckout } from "@/components/billing/test-checkout";
import { PanelData } from "@/components/data/panel-data";
import { PlainPage, PlainTitle } from "@/components/shell/plain-page";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Test checkout" };

type Props = { params: Promise<{ paymentId: string }> };

/** The built-in test checkout of a payment, for those who may pay it. Not available in production. */
export default async function TestCheckoutPage({ params }: Props) {
  const { paymentId } = await params;
  await requirePerson(`/checkout/test/${encodeURIComponent(paymentId)}`);
  await panelRead(({ trpc, queryClient }) =>
    queryClient.fetchQuery(trpc.billing.testPayment.queryOptions({ paymentId })),
  );
  return (
    <PanelData>
      <PlainPage>
        <PlainTitle title="Test checkout" />
        <HydrationBoundary state={panelState()}>
          <TestCheckout paymentId={paymentId} />
        </HydrationBoundary>
      </PlainPage>
    </PanelData>
  );
}
