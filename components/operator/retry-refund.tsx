"use client";
import { useQueryClient } from "@tanstack/react-query";
import { RotateCcw } from "lucide-react";
import { toast } from "sonner";
import { useTRPC } from "@/components/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import { Button } from "@/components/ui/button";
import { useMutation } from "@/components/use-mutation";
import type { DossierPayment } from "@/server/contract/dossiers";
import { leftOf } from "./left-of";

/** Asks the payment provider once more for a refund that failed, whoever wanted it. */
export function RetryRefund({ payment, refundId }: { payment: DossierPayment; refundId: string }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const retry = useMutation(
    trpc.operator.retryRefund.mutationOptions({
      onSuccess({ state }) {
        if (state === "failed") toast.error("The refund has failed again");
        else toast.success("The refund is asked for");
      },
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.operator.pathKey() }),
    }),
  );
  return (
    <Confirm
      title="Ask for the refund again?"
      description={`The payment provider is asked once more to give ${leftOf(payment)} back. That cannot be undone once it has.`}
      action="Ask again"
      keep="Not now"
      onConfirm={() => retry.mutate({ paymentId: payment.paymentId, refundId })}
    >
      <Button variant="primary" pending={retry.isPending}>
        <RotateCcw aria-hidden />
        Ask for the refund again
      </Button>
    </Confirm>
  );
}
