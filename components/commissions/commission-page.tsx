"use client";
import { useLive } from "@/components/blocks/data/use-live";
import { useTRPC } from "@/components/data/trpc";
import { PlainPage, PlainTitle } from "@/components/shell/plain-page";
import { useServerNow } from "@/components/time/server-now";
import Link from "@/components/ui/link";
import type { Commission } from "@/server/contract/commissions";
import { NextSteps } from "./next-steps";
import { Offer } from "./offer";
import { Pay } from "./pay";
import { type CheckoutReturn, type CommissionStage, commissionPollMs, commissionStage } from "./stage";
import { StageNotice } from "./stage-notice";

const TITLES: Record<CommissionStage["kind"], string> = {
  payable: "Approve commission",
  confirming: "Confirming your payment",
  processing: "Payment processing",
  expired: "This quote has expired",
  superseded: "This quote was replaced",
  paid: "Commission paid",
  fulfilled: "Capability shipped",
  refunding: "Refund in progress",
  refunded: "Commission refunded",
};

/** The page of a commission quote: a person reviews and pays it here, or reads its status. */
export function CommissionPage({ quoteId, returned }: { quoteId: string; returned: CheckoutReturn }) {
  const trpc = useTRPC();
  const { data: commission } = useLive(trpc.requests.commission.queryOptions({ quoteId }), (read) =>
    commissionPollMs(read, commissionStage(read, returned, Date.parse(read.now))),
  );
  const nowMs = useServerNow(commission.now, commission.quote.expiresAt);
  const stage = commissionStage(commission, returned, nowMs);
  return (
    <PlainPage wide>
      <PlainTitle title={TITLES[stage.kind]}>
        {commission.organization.displayName} · {commission.project.displayName}
      </PlainTitle>
      <div className="space-y-5">
        <StageNotice commission={commission} returned={returned} stage={stage} />
        <Offer commission={commission} stage={stage} nowMs={nowMs} />
        {stage.kind === "payable" && <NextSteps commission={commission} />}
        {stage.kind === "payable" && <Pay commission={commission} />}
        <WayOn commission={commission} />
      </div>
    </PlainPage>
  );
}

/** Links to the request; operators who are not members get the operator page. */
function WayOn({ commission: { isMember, request } }: { commission: Commission }) {
  const href = isMember
    ? `/projects/${request.projectId}/requests/${request.id}`
    : `/operator/requests/${request.id}`;
  return (
    <p className="text-center text-sm">
      <Link href={href} className="text-link underline underline-offset-4">
        View request
      </Link>
    </p>
  );
}
