import { Ban, CircleCheck, CircleX, Clock, LoaderCircle, type LucideIcon } from "lucide-react";
import { Badge, type Tone } from "@/components/ui/badge";
import { cn } from "@/components/ui/class-names";
import type { DeliveryState } from "@/server/contract/webhooks";

type Look = { label: string; icon: LucideIcon; tone: Tone; isSpinning?: true };

/** Each state's label, icon and tone. Colour is never the only signal. */
export const DELIVERY_LOOK: Record<DeliveryState, Look> = {
  pending: { label: "Pending", icon: Clock, tone: "neutral" },
  delivering: { label: "Delivering", icon: LoaderCircle, tone: "busy", isSpinning: true },
  succeeded: { label: "Succeeded", icon: CircleCheck, tone: "good" },
  failed: { label: "Failed", icon: CircleX, tone: "bad" },
  disabled: { label: "Disabled", icon: Ban, tone: "neutral" },
};

export function DeliveryStateBadge({ state }: { state: DeliveryState }) {
  const { label, icon: Icon, tone, isSpinning } = DELIVERY_LOOK[state];
  return (
    <Badge tone={tone} data-state-of-delivery={state}>
      <Icon aria-hidden className={cn(isSpinning && "animate-spin")} />
      {label}
    </Badge>
  );
}
