import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { cookies } from "next/headers";
import { BillingRoom } from "@/components/billing/billing-room";
import { billingHref, readBillingState, transactionsQuery } from "@/components/billing/billing-state";
import { LAST_PROJECT_COOKIE } from "@/components/shell/last-project";
import { requirePerson } from "@/server/auth/session";
import { missing, panelRead, panelState } from "@/server/trpc/prefetch";
import { modeOf } from "../frame";

export const metadata: Metadata = { title: "Billing" };

type Props = { searchParams: Promise<Record<string, string | string[] | undefined>> };

export default async function BillingPage({ searchParams }: Props) {
  const state = readBillingState(await searchParams);
  await requirePerson(billingHref(state));
  const { accounts, projects } = await panelRead(async ({ trpc, queryClient }) => ({
    accounts: await queryClient.fetchQuery(trpc.billing.accounts.queryOptions()),
    projects: await queryClient.fetchQuery(trpc.projects.list.queryOptions()),
  }));
  const last = (await cookies()).get(LAST_PROJECT_COOKIE)?.value;
  const current = projects.find(({ projectId }) => projectId === last) ?? projects[0];
  const organizationId = state.organizationId ?? current?.organizationId ?? accounts[0]?.organizationId;
  if (!accounts.some((each) => each.organizationId === organizationId) || !organizationId) return missing();
  const isTest = current ? (await modeOf(current.projectId)) === "test" : false;
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.billing.wallet.queryOptions({ organizationId })),
      queryClient.fetchQuery(trpc.billing.checkout.queryOptions()),
      queryClient.fetchInfiniteQuery(
        trpc.billing.commissions.infiniteQueryOptions(
          { organizationId },
          { getNextPageParam: (page) => page.nextCursor ?? null },
        ),
      ),
      queryClient.fetchQuery(
        trpc.billing.transactions.queryOptions(transactionsQuery(organizationId, state, isTest)),
      ),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <BillingRoom organizationId={organizationId} state={state} />
    </HydrationBoundary>
  );
}
