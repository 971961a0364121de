"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useAction } from "@/components/blocks/data/use-action";
import { formatMoney } from "@/components/blocks/money/money";
import { toFailure, useTRPC } from "@/components/data/trpc";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { Fact, Facts } from "@/components/ui/facts";
import { Notice } from "@/components/ui/notice";
import { hrefOf } from "@/components/ui/paging";
import { useLeave } from "@/components/ui/use-leave";
import { TEST_MONEY } from "./test-money";

/** The page of the built-in test checkout: pay without money or cancel, then return. */
export function TestCheckout({ paymentId }: { paymentId: string }) {
  const trpc = useTRPC();
  const { data: payment } = useSuspenseQuery(trpc.billing.testPayment.queryOptions({ paymentId }));
  const { organizationId, returnPath } = payment;
  const isTopUp = payment.kind === "top_up";
  const back = (result: "success" | "canceled") =>
    hrefOf(returnPath, { organizationId, payment: paymentId, result });
  const { isLeaving, leave } = useLeave();
  const decide = useAction(trpc.billing.decideTestPayment.mutationOptions(), {
    onDone: ({ state }) => leave(back(state === "paid" ? "success" : "canceled")),
    isInPlace: true,
  });
  const isBusy = decide.isPending || isLeaving;
  const pressed = decide.variables?.decision;
  return (
    <Card className="space-y-5 p-5">
      <Notice tone="warn" title="Test checkout: no real money moves">
        {isTopUp
          ? `Paying adds ${TEST_MONEY} to the test wallet, which pays for sandbox jobs.`
          : "The payment still counts: the work begins."}
      </Notice>
      <Facts>
        <Fact name="Item">{payment.title}</Fact>
        <Fact name="Amount">{formatMoney(payment.amount)}</Fact>
        {isTopUp && <Fact name="Wallet credit">{formatMoney(payment.credit)}</Fact>}
      </Facts>
      {decide.error && (
        <Notice tone="bad" role="alert">
          <p>{toFailure(decide.error).message}</p>
          <a href={returnPath} className="text-link underline">
            {isTopUp ? "Back to billing" : "Back to the quote"}
          </a>
        </Notice>
      )}
      {payment.state === "open" ? (
        <div className="flex flex-col gap-2">
          <Button
            variant="primary"
            disabled={isBusy}
            pending={isBusy && pressed === "pay"}
            onClick={() => decide.mutate({ paymentId, decision: "pay" })}
          >
            Pay {formatMoney(payment.amount)}
          </Button>
          <Button
            disabled={isBusy}
            pending={isBusy && pressed === "cancel"}
            onClick={() => decide.mutate({ paymentId, decision: "cancel" })}
          >
            Cancel
          </Button>
        </div>
      ) : (
        <div className="space-y-3">
          <p className="text-sm text-muted">
            {payment.state === "paid"
              ? "This payment is complete."
              : "This checkout is closed. Nothing was charged."}
          </p>
          <Button asChild>
            <a href={back(payment.state === "paid" ? "success" : "canceled")}>
              {isTopUp ? "Back to billing" : "Back to the quote"}
            </a>
          </Button>
        </div>
      )}
    </Card>
  );
}
