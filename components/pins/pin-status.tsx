import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleQuestionMark,
  CircleX,
  LoaderCircle,
  type LucideIcon,
} from "lucide-react";
import type { z } from "zod";
import { Badge, type Tone } from "@/components/ui/badge";
import { cn } from "@/components/ui/class-names";
import type { BulkItemStatus, PinnedRecord } from "@/server/contract/pinned";

export type ItemStatus = z.output<typeof BulkItemStatus>;
type Look = {
  label: string;
  icon: LucideIcon;
  tone: Tone;
  /** The colour of its part of a bulk's bar. */
  fill: string;
  isSpinning?: true;
};

/** Each pinned execution status's label, icon and tone. Colour is never the only signal. */
export const ITEM_LOOK: Record<ItemStatus, Look> = {
  succeeded: { label: "Succeeded", icon: CircleCheck, tone: "good", fill: "bg-series-4" },
  failed: { label: "Failed", icon: CircleX, tone: "bad", fill: "bg-series-5" },
  ambiguous: { label: "Ambiguous", icon: CircleQuestionMark, tone: "warn", fill: "bg-series-2" },
  running: { label: "Running", icon: LoaderCircle, tone: "busy", fill: "bg-series-6", isSpinning: true },
  queued: { label: "Queued", icon: CircleDashed, tone: "neutral", fill: "bg-line" },
  canceled: { label: "Canceled", icon: Ban, tone: "neutral", fill: "bg-series-rest" },
};

export function PinStatusBadge({ status }: { status: ItemStatus }) {
  const { label, icon: Icon, tone, isSpinning } = ITEM_LOOK[status];
  return (
    <Badge tone={tone} data-status={status}>
      <Icon aria-hidden className={cn(isSpinning && "animate-spin")} />
      {label}
    </Badge>
  );
}

type Submission = PinnedRecord["providerSubmission"];

/** Whether the request was sent, and answered. */
export const SUBMISSION_WORDS: Record<Submission, string> = {
  not_attempted: "Not sent",
  attempted: "Sent and answered",
  ambiguous: "Sent, may have run",
};
