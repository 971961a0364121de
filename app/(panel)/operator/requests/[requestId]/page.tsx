import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { operatorRequestHref } from "@/components/operator/list-state";
import { RequestRoom } from "@/components/operator/request-room";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Capability request" };

export default async function OperatorRequestPage({ params }: { params: Promise<{ requestId: string }> }) {
  const { requestId } = await params;
  const person = await requirePerson(operatorRequestHref(requestId));
  if (!person.isOperator) notFound();
  await panelRead(({ trpc, queryClient }) =>
    queryClient.fetchQuery(trpc.operator.request.queryOptions({ request_id: requestId })),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <RequestRoom requestId={requestId} />
    </HydrationBoundary>
  );
}
