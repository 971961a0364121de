"use client";
import { useQueryClient } from "@tanstack/react-query";
import { formatMoney } from "@/components/billing/format-money";
import { toFailure, useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";
import { useLeave } from "@/components/ui/use-leave";
import { useMutation } from "@/components/use-mutation";
import type { Commission } from "@/server/contract/commissions";

/** Leads to the checkout, for who may pay; anybody else is told who may. */
export function Pay({ commission }: { commission: Commission }) {
  const { checkout, mayPay, isMember, organization } = commission;
  if (!mayPay)
    return (
      <Notice tone="busy" title="Members pay">
        You may read in {organization.displayName}, but not pay for it. Members, admins and owners can: send
        one of them the address of this page.
      </Notice>
    );
  if (!checkout)
    return (
      <Notice tone="warn" title="Payments are not set up">
        This installation takes no payments yet, so nothing can be charged. Tell its operator; the quote stays
        as it is until it expires.
      </Notice>
    );
  return (
    <div className="space-y-3">
      {checkout.test && (
        <Notice tone="warn" title="Test checkout">
          No real money moves here: this installation is for trying things out.
        </Notice>
      )}
      {!isMember && (
        <Notice tone="busy" title="You are no member of this organization">
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
  // Paid meanwhile, or not: what is shown here is from before.
  const { isLeaving, leave } = useLeave(() =>
    queryClient.invalidateQueries({ queryKey: trpc.requests.commission.pathKey() }),
  );
  const { mutate, error, isPending } = useMutation(
    trpc.requests.pay.mutationOptions({
      onSuccess: ({ url }) => leave(url),
      // Somebody else may have paid or reworded it meanwhile: what it has become says more than the refusal.
      onError: () => queryClient.invalidateQueries({ queryKey: trpc.requests.commission.pathKey() }),
      meta: { isShownInPlace: true },
    }),
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
          ? `A checkout is open already, begun by ${open.startedBy}. You join it: it is paid once, whoever pays.`
          : "Plus tax, where it applies. You confirm on the next page."}
      </p>
    </>
  );
}
