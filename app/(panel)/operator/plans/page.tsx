import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { PlanRoom } from "@/components/operator/plan-room";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Plans" };

type Props = { searchParams: Promise<Record<string, string | string[] | undefined>> };

export default async function PlansPage({ searchParams }: Props) {
  const { cursor: given } = await searchParams;
  const cursor = typeof given === "string" ? given.slice(0, 64) : undefined;
  const person = await requirePerson("/operator/plans");
  if (!person.isOperator) notFound();
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.operator.plans.queryOptions({ cursor })),
      queryClient.fetchQuery(trpc.operator.offered.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <PlanRoom cursor={cursor} />
    </HydrationBoundary>
  );
}
