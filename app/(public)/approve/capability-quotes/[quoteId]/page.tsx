import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { CommissionPage } from "@/components/commissions/commission-page";
import { approvalHref, readReturned } from "@/components/commissions/hrefs";
import { PanelData } from "@/components/data/panel-data";
import type { SearchParams } from "@/components/ui/paging";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Approve commission", robots: { index: false } };

type Props = { params: Promise<{ quoteId: string }>; searchParams: Promise<SearchParams> };

/** The page where a person approves and pays a commission quote. A quote of another organization looks like a missing one. */
export default async function ApprovalPage({ params, searchParams }: Props) {
  const { quoteId } = await params;
  const returned = readReturned(await searchParams);
  await requirePerson(approvalHref(quoteId, returned));
  await panelRead(({ trpc, queryClient }) =>
    queryClient.fetchQuery(trpc.requests.commission.queryOptions({ quoteId })),
  );
  return (
    <PanelData>
      <HydrationBoundary state={panelState()}>
        <CommissionPage quoteId={quoteId} returned={returned} />
      </HydrationBoundary>
    </PanelData>
  );
}
