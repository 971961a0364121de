import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { notificationsHref, readNotificationPlace, toQuery } from "@/components/notifications/list-state";
import { NotificationRoom } from "@/components/notifications/notification-room";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Notifications" };

type Props = { searchParams: Promise<Record<string, string | string[] | undefined>> };

export default async function NotificationsPage({ searchParams }: Props) {
  const place = readNotificationPlace(await searchParams);
  await requirePerson(notificationsHref(place));
  await panelRead(({ trpc, queryClient }) =>
    queryClient.fetchQuery(trpc.notifications.list.queryOptions(toQuery(place))),
  );
  return (
    <HydrationBoundary state={panelState()}>
      <NotificationRoom place={place} />
    </HydrationBoundary>
  );
}
