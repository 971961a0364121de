import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleX,
  Hand,
  LoaderCircle,
  type LucideIcon,
  OctagonAlert,
} from "lucide-react";
import { Badge, type Tone } from "@/components/ui/badge";
import { cn } from "@/components/ui/class-names";
import type { JobStatus } from "@/server/contract/jobs";

type Look = { label: string; icon: LucideIcon; tone: Tone; isSpinning?: true };

/** Each status's label, icon and tone. Colour is never the only signal. */
export const STATUS_LOOK: Record<JobStatus, Look> = {
  queued: { label: "Queued", icon: CircleDashed, tone: "neutral" },
  running: { label: "Running", icon: LoaderCircle, tone: "busy", isSpinning: true },
  awaiting_approval: { label: "Awaiting approval", icon: Hand, tone: "warn" },
  succeeded: { label: "Succeeded", icon: CircleCheck, tone: "good" },
  failed: { label: "Failed", icon: CircleX, tone: "bad" },
  canceling: { label: "Canceling", icon: LoaderCircle, tone: "neutral", isSpinning: true },
  canceled: { label: "Canceled", icon: Ban, tone: "neutral" },
  needs_attention: { label: "Needs attention", icon: OctagonAlert, tone: "warn" },
};

export function JobStatusBadge({ status }: { status: JobStatus }) {
  const { label, icon: Icon, tone, isSpinning } = STATUS_LOOK[status];
  return (
    <Badge tone={tone} data-status={status}>
      <Icon aria-hidden className={cn(isSpinning && "animate-spin")} />
      {label}
    </Badge>
  );
}
