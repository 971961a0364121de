"use client";
import { Bell, Check } from "lucide-react";
import { useActionPerInput } from "@/components/blocks/data/use-action";
import { useLive } from "@/components/blocks/data/use-live";
import { ListCard } from "@/components/blocks/list/list-card";
import { useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Ago } from "@/components/time/moment";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";
import type { Notification } from "@/server/contract/notifications";
import { type NotificationListPosition, notificationsHref, toQuery } from "./list-state";

/** A person's notifications, newest first. Opening one marks it as read. */
export function NotificationRoom({ place }: { place: NotificationListPosition }) {
  const trpc = useTRPC();
  const { data: page } = useLive(trpc.notifications.list.queryOptions(toQuery(place)), 60_000);
  const { mutate: markRead, isPending } = useActionPerInput(trpc.notifications.markRead.mutationOptions(), {
    refresh: [trpc.notifications.pathKey()],
  });
  return (
    <>
      <PageHeader
        title="Notifications"
        actions={
          page.unread > 0 && (
            <Button onClick={() => markRead({ all: true })} pending={isPending}>
              <Check aria-hidden />
              Mark all as read
            </Button>
          )
        }
      >
        <span role="status">{page.unread === 0 ? "You're all caught up." : `${page.unread} unread`}</span>
      </PageHeader>
      <ListCard
        noun="notifications"
        page={page}
        state={place}
        hrefOf={notificationsHref}
        first={
          <EmptyState icon={Bell} title="No notifications yet">
            You are notified here and by email when a quote is ready, paid or about to expire, and when a
            capability you requested ships.
          </EmptyState>
        }
      >
        <ul className="divide-y divide-line">
          {page.items.map((item) => (
            <Line
              key={item.notificationId}
              item={item}
              onRead={() => markRead({ ids: [item.notificationId] })}
            />
          ))}
        </ul>
      </ListCard>
    </>
  );
}

function Line({ item, onRead }: { item: Notification; onRead: () => void }) {
  const isUnread = item.readAt === null;
  return (
    <li className="relative flex items-start gap-3 px-4 py-3 hover:bg-hover">
      <span
        aria-hidden
        className={cn("mt-2 size-2 shrink-0 rounded-full", isUnread ? "bg-primary" : "bg-transparent")}
      />
      <div className="min-w-0 flex-1 [overflow-wrap:anywhere]">
        <p className={cn("text-sm", isUnread ? "font-semibold" : "font-medium text-muted")}>
          {isUnread && <span className="sr-only">Unread: </span>}
          {/* The link covers the whole row. */}
          <Link
            href={item.href}
            onClick={isUnread ? onRead : undefined}
            className="after:absolute after:inset-0 after:content-['']"
          >
            {item.title}
          </Link>
        </p>
        {item.body && (
          <p dir="auto" className="mt-0.5 text-sm text-muted">
            {item.body}
          </p>
        )}
        <p className="mt-1 text-xs text-muted">
          <Ago at={item.createdAt} />
        </p>
      </div>
      {isUnread && (
        <Button
          variant="ghost"
          size="icon"
          className="relative z-10"
          aria-label={`Mark as read: ${item.title}`}
          onClick={onRead}
        >
          <Check aria-hidden />
        </Button>
      )}
    </li>
  );
}
