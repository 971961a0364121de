import {
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CircleX,
  Eye,
  Hammer,
  Inbox,
  type LucideIcon,
  Tag,
  Undo2,
} from "lucide-react";
import type { ComponentProps } from "react";
import { Badge, type Tone } from "@/components/ui/badge";
import type { RefundState } from "@/server/contract/billing";
import type { RequestStatus } from "@/server/contract/requests";

type Look = { label: string; icon: LucideIcon; tone: Tone };

/** How each state of a request looks and what it is called; an icon and words, never colour alone. */
export const REQUEST_LOOK: Record<RequestStatus, Look> = {
  draft: { label: "Draft", icon: CircleDashed, tone: "neutral" },
  submitted: { label: "Submitted", icon: Inbox, tone: "busy" },
  in_review: { label: "In review", icon: Eye, tone: "busy" },
  needs_information: { label: "Needs information", icon: CircleHelp, tone: "warn" },
  quoted: { label: "Quoted", icon: Tag, tone: "warn" },
  declined: { label: "Declined", icon: CircleX, tone: "bad" },
  paid: { label: "Paid, being built", icon: Hammer, tone: "busy" },
  fulfilled: { label: "Fulfilled", icon: CircleCheck, tone: "good" },
  refunded: { label: "Refunded", icon: Undo2, tone: "neutral" },
};

/** What was paid goes back, and the state changes only once it has. */
const RETURNING: Record<"underWay" | "failed", Look> = {
  underWay: { label: "Refund under way", icon: Undo2, tone: "busy" },
  failed: { label: "Refund failed", icon: CircleX, tone: "bad" },
};

/** How a request looks whose payment goes back, or does not (`refund`: null). */
export function lookOf(status: RequestStatus, refund: RefundState | null): Look {
  if (!isRefundTold(status, refund)) return REQUEST_LOOK[status];
  return refund === "failed" ? RETURNING.failed : RETURNING.underWay;
}

/** Does its look say how the refund stands, rather than its state? */
export const isRefundTold = (status: RequestStatus, refund: RefundState | null): boolean =>
  refund !== null && (status === "paid" || status === "fulfilled");

export function RequestStatusBadge({
  status,
  refund,
}: {
  status: RequestStatus;
  refund: RefundState | null;
}) {
  return <LookBadge look={lookOf(status, refund)} data-status={status} data-refund={refund} />;
}

/** Beside a state that does not say it. */
export const RefundFailedBadge = () => <LookBadge look={RETURNING.failed} data-refund="failed" />;

function LookBadge({
  look: { label, icon: Icon, tone },
  ...rest
}: { look: Look } & ComponentProps<typeof Badge>) {
  return (
    <Badge tone={tone} {...rest}>
      <Icon aria-hidden />
      {label}
    </Badge>
  );
}
