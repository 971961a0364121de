import { CircleCheck, CircleDashed, CircleX, LoaderCircle, type LucideIcon, SplitIcon } from "lucide-react";
import { Badge, type Tone } from "@/components/ui/badge";
import { cn } from "@/components/ui/class-names";
import type { BulkStatus } from "@/server/contract/pinned";

type Look = { label: string; icon: LucideIcon; tone: Tone; isSpinning?: true };

/** The label, icon and tone of each bulk status. */
const BULK_LOOK: Record<BulkStatus, Look> = {
  accepted: { label: "Accepted", icon: CircleDashed, tone: "neutral" },
  running: { label: "Running", icon: LoaderCircle, tone: "busy", isSpinning: true },
  succeeded: { label: "Succeeded", icon: CircleCheck, tone: "good" },
  partial: { label: "Partly succeeded", icon: SplitIcon, tone: "warn" },
  failed: { label: "Failed", icon: CircleX, tone: "bad" },
};

export function BulkStatusBadge({ status }: { status: BulkStatus }) {
  const { label, icon: Icon, tone, isSpinning } = BULK_LOOK[status];
  return (
    <Badge tone={tone} data-status={status}>
      <Icon aria-hidden className={cn(isSpinning && "animate-spin")} />
      {label}
    </Badge>
  );
}
