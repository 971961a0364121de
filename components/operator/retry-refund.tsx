"use client";
import { RotateCcw } from "lucide-react";
import { toast } from "sonner";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { useTRPC } from "@/components/trpc";
import type { DossierPayment } from "@/server/contract/dossiers";
import { leftOf } from "./left-of";

/** Retries a failed refund at the payment provider. */
export function RetryRefund({ payment, refundId }: { payment: DossierPayment; refundId: string }) {
  const trpc = useTRPC();
  const retry = useAction(trpc.operator.retryRefund.mutationOptions(), {
    onDone({ state }) {
      if (state === "failed") toast.error("Refund failed again");
      else toast.success("Refund requested");
    },
    refresh: [trpc.operator.pathKey()],
  });
  return (
    <ConfirmAction
      icon={RotateCcw}
      label="Retry refund"
      title="Retry this refund?"
      description={`The payment provider is asked again to refund ${leftOf(payment)}. A completed refund cannot be undone.`}
      action="Retry refund"
      onConfirm={() => retry.mutate({ paymentId: payment.paymentId, refundId })}
      variant="primary"
      pending={retry.isPending}
    />
  );
}
