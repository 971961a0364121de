import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { DeliveryLog } from "@/components/webhooks/delivery-log";
import { EndpointList } from "@/components/webhooks/endpoint-list";
import { logHref, readLogState, toDeliveriesQuery } from "@/components/webhooks/list-state";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Webhooks" };

type Props = {
  params: Promise<{ projectId: string }>;
  searchParams: Promise<Record<string, string | string[] | undefined>>;
};

export default async function WebhooksPage({ params, searchParams }: Props) {
  const { projectId } = await params;
  const state = readLogState(await searchParams);
  await requirePerson(logHref(projectId, state));
  await panelRead(({ trpc, queryClient }) =>
    Promise.all([
      queryClient.fetchQuery(trpc.webhooks.endpoints.queryOptions({ project_id: projectId })),
      queryClient.fetchQuery(trpc.webhooks.deliveries.queryOptions(toDeliveriesQuery(projectId, state))),
      queryClient.fetchQuery(trpc.projects.list.queryOptions()),
    ]),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <EndpointList projectId={projectId} />
      <DeliveryLog projectId={projectId} state={state} />
    </HydrationBoundary>
  );
}
