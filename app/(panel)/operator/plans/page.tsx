import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { plansHref, readPlansPlace, toPlansQuery } from "@/components/operator/list-state";
import { PlanRoom } from "@/components/operator/plan-room";
import type { SearchParams } from "@/components/ui/paging";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Plans" };

type Props = { searchParams: Promise<SearchParams> };

export default async function PlansPage({ searchParams }: Props) {
  const place = readPlansPlace(await searchParams);
  const person = await requirePerson(plansHref(place));
  if (!person.isOperator) notFound();
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.operator.plans.queryOptions(toPlansQuery(place))),
      queryClient.fetchQuery(trpc.operator.offered.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <PlanRoom place={place} />
    </HydrationBoundary>
  );
}
