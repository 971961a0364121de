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

/** Retries a failed refund at the payment provider. */
export function RetryRefund({ payment, refundId }: { payment: DossierPayment; refundId: string }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const retry = useMutation(
    trpc.operator.retryRefund.mutationOptions({
      onSuccess({ state }) {
        if (state === "failed") toast.error("Refund failed again");
        else toast.success("Refund requested");
      },
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.operator.pathKey() }),
    }),
  );
  return (
    <Confirm
      title="Retry this refund?"
      description={`The payment provider is asked again to refund ${leftOf(payment)}. A completed refund cannot be undone.`}
      action="Retry refund"
      onConfirm={() => retry.mutate({ paymentId: payment.paymentId, refundId })}
    >
      <Button variant="primary" pending={retry.isPending}>
        <RotateCcw aria-hidden /> Retry refund
      </Button>
    </Confirm>
  );
}
