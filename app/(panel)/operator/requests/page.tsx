import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { queueHref, readQueueState, toQueueQuery } from "@/components/operator/list-state";
import { RequestQueue } from "@/components/operator/request-queue";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Capability requests" };

type Props = { searchParams: Promise<Record<string, string | string[] | undefined>> };

export default async function OperatorRequestsPage({ searchParams }: Props) {
  const state = readQueueState(await searchParams);
  const person = await requirePerson(queueHref(state));
  if (!person.isOperator) notFound();
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.operator.queue.queryOptions(toQueueQuery(state))),
      queryClient.fetchQuery(trpc.operator.counts.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <RequestQueue state={state} />
    </HydrationBoundary>
  );
}
