import { formatMoney } from "@/components/blocks/money/money";
import { callerName } from "@/components/callers/caller-name";
import { approvalHref } from "@/components/commissions/hrefs";
import { requestHref } from "@/components/requests/list-state";
import { Button } from "@/components/ui/button";
import { Card, CardBody } from "@/components/ui/card";
import { Fact, Facts } from "@/components/ui/facts";
import Link from "@/components/ui/link";
import type { WaitingCommission } from "@/server/contract/approvals";
import { Due } from "./due";

/** A commission quote that waits for payment. */
export function CommissionDetail({
  projectId,
  item: { quote, summary, askedBy, mayPay },
  now,
}: {
  projectId: string;
  item: WaitingCommission;
  now: string;
}) {
  return (
    <Card>
      <CardBody className="space-y-4">
        <h2 dir="auto" className="text-xl font-semibold [overflow-wrap:anywhere]">
          <Link href={requestHref(projectId, quote.requestId)} className="rounded hover:underline">
            {summary}
          </Link>
        </h2>
        <div>
          <p className="flex flex-wrap items-baseline gap-x-2">
            <span className="text-3xl font-semibold tabular-nums">{formatMoney(quote.commissionPrice)}</span>
            <span className="text-sm text-muted">before tax, paid once</span>
          </p>
          <p className="text-sm text-muted">
            An operator quoted a price for this request. The work starts when a person pays.
          </p>
        </div>
        <Facts>
          <Fact name="Requested by">{callerName(askedBy)}</Fact>
          <Fact name="Expires">
            <Due until={quote.expiresAt} now={now} />
          </Fact>
        </Facts>
        <Button asChild variant={mayPay ? "primary" : "secondary"}>
          <Link href={approvalHref(quote.quoteId)}>{mayPay ? "Review and pay" : "Open quote"}</Link>
        </Button>
      </CardBody>
    </Card>
  );
}
