import { CircleCheck, CircleDashed, CircleHelp, CircleX, Eye, Hammer, Inbox, Tag, Undo2 } from "lucide-react";
import { type Look, LookBadge } from "@/components/blocks/status/status";
import type { RefundState } from "@/server/contract/billing";
import type { RequestStatus } from "@/server/contract/requests";

/** Each request state's label, icon and tone. Colour is never the only signal. */
export const REQUEST_LOOK: Record<RequestStatus, Look> = {
  draft: { label: "Draft", icon: CircleDashed, tone: "neutral" },
  submitted: { label: "Submitted", icon: Inbox, tone: "busy" },
  in_review: { label: "In review", icon: Eye, tone: "busy" },
  needs_information: { label: "Needs information", icon: CircleHelp, tone: "warn" },
  quoted: { label: "Quoted", icon: Tag, tone: "warn" },
  declined: { label: "Declined", icon: CircleX, tone: "bad" },
  paid: { label: "In development", icon: Hammer, tone: "busy" },
  fulfilled: { label: "Shipped", icon: CircleCheck, tone: "good" },
  refunded: { label: "Refunded", icon: Undo2, tone: "neutral" },
};

/** A refund in progress. The state changes only once it is done. */
const RETURNING: Record<"underWay" | "failed", Look> = {
  underWay: { label: "Refund in progress", icon: Undo2, tone: "busy" },
  failed: { label: "Refund failed", icon: CircleX, tone: "bad" },
};

/** A request's look. A refund (`refund` not null) replaces the status of a paid or fulfilled request. */
export function lookOf(status: RequestStatus, refund: RefundState | null): Look {
  if (!isRefundShown(status, refund)) return REQUEST_LOOK[status];
  return refund === "failed" ? RETURNING.failed : RETURNING.underWay;
}

/** True if the look shows the refund rather than the state. */
export const isRefundShown = (status: RequestStatus, refund: RefundState | null): boolean =>
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

/** Shown beside a state that does not show the failure. */
export const RefundFailedBadge = () => <LookBadge look={RETURNING.failed} data-refund="failed" />;
