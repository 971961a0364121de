"use client";
import { useQueryClient } from "@tanstack/react-query";
import { useAction } from "@/components/blocks/data/use-action";
import { formatMoney } from "@/components/blocks/money/money";
import { toFailure, useTRPC } from "@/components/data/trpc";
import { Button } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";
import { useLeave } from "@/components/ui/use-leave";
import type { Commission } from "@/server/contract/commissions";

/** The button to the checkout, or a notice on who can pay. */
export function Pay({ commission }: { commission: Commission }) {
  const { checkout, mayPay, isMember, organization } = commission;
  if (!mayPay)
    return (
      <Notice tone="busy" title="You can't pay this quote">
        Viewers in {organization.displayName} can't pay. Members, admins and owners can. Send one of them the
        link to this page.
      </Notice>
    );
  if (!checkout)
    return (
      <Notice tone="warn" title="Payments are not set up">
        This installation does not accept payments yet. Contact your operator. The quote stays valid until it
        expires.
      </Notice>
    );
  return (
    <div className="space-y-3">
      {checkout.test && (
        <Notice tone="warn" title="Test checkout">
          No real money moves: this installation uses a test checkout.
        </Notice>
      )}
      {!isMember && (
        <Notice tone="busy" title="You are not a member of this organization">
          You can pay for {organization.displayName} as an operator of this installation.
        </Notice>
      )}
      <PayButton commission={commission} />
    </div>
  );
}

function PayButton({ commission: { quote, payments } }: { commission: Commission }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  // The quote may have been paid in the meantime, so reload it.
  const { isLeaving, leave } = useLeave(() =>
    queryClient.invalidateQueries({ queryKey: trpc.requests.commission.pathKey() }),
  );
  const { mutate, error, isPending } = useAction(
    trpc.requests.pay.mutationOptions({
      // Someone else may have paid or revised it in the meantime; the new state explains more than the error.
      onError: () => queryClient.invalidateQueries({ queryKey: trpc.requests.commission.pathKey() }),
    }),
    { onDone: ({ url }) => leave(url), isInPlace: true },
  );
  const open = payments.find(({ state }) => state === "open");
  return (
    <>
      {error && (
        <Notice tone="bad" role="alert">
          {toFailure(error).message}
        </Notice>
      )}
      <Button
        variant="primary"
        size="lg"
        className="w-full"
        pending={isPending || isLeaving}
        onClick={() => mutate({ quoteId: quote.quoteId })}
      >
        Approve and pay {formatMoney(quote.commissionPrice)}
      </Button>
      <p className="text-center text-xs text-muted">
        {open?.startedBy
          ? `${open.startedBy} already started a checkout. You will join it, and it can be paid only once.`
          : "Plus tax where applicable. You confirm on the next page."}
      </p>
    </>
  );
}
