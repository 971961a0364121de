import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { outboxHref, readMailPlace, toQuery } from "@/components/notifications/list-state";
import { OutboxRoom } from "@/components/notifications/outbox-room";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Outbox" };

type Props = { searchParams: Promise<Record<string, string | string[] | undefined>> };

export default async function OutboxPage({ searchParams }: Props) {
  const place = readMailPlace(await searchParams);
  const person = await requirePerson(outboxHref(place));
  if (!person.isOperator) notFound();
  await panelRead(({ trpc, queryClient }) =>
    queryClient.fetchQuery(trpc.notifications.outbox.queryOptions(toQuery(place))),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <OutboxRoom place={place} />
    </HydrationBoundary>
  );
}
