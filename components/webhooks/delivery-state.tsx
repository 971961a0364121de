import { Ban, CircleCheck, CircleX, Clock, LoaderCircle, RotateCw } from "lucide-react";
import { defineStatus, LookBadge } from "@/components/blocks/status/status";
import type { Delivery, DeliveryState } from "@/server/contract/webhooks";

const { StatusBadge, options } = defineStatus<DeliveryState>({
  pending: { label: "Pending", icon: Clock },
  delivering: { label: "Delivering", icon: LoaderCircle, tone: "busy", isSpinning: true },
  succeeded: { label: "Succeeded", icon: CircleCheck, tone: "good" },
  failed: { label: "Failed", icon: CircleX, tone: "bad" },
  disabled: { label: "Disabled", icon: Ban },
});

export { options as DELIVERY_STATE_OPTIONS };

/** One that waits after a failed try says so: it is no longer only waiting for its turn. */
export function DeliveryStateBadge({ state, attempts }: Pick<Delivery, "state" | "attempts">) {
  if (state === "pending" && attempts > 0)
    return <LookBadge data-status={state} look={{ label: "Retrying", icon: RotateCw, tone: "warn" }} />;
  return <StatusBadge status={state} />;
}
