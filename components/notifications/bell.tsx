"use client";
import { useQuery } from "@tanstack/react-query";
import { Bell as BellIcon } from "lucide-react";
import { useTRPC } from "@/components/data/trpc";
import { Button } from "@/components/ui/button";
import Link from "@/components/ui/link";

const POLL_MS = 60_000;
const MOST_SHOWN = 99;

/** Links to a person's notifications and shows the unread count, refreshed every minute and on return to the tab. */
export function Bell() {
  const { data } = useQuery({
    ...useTRPC().notifications.unread.queryOptions(),
    refetchInterval: POLL_MS,
    refetchOnWindowFocus: true,
  });
  const unread = data?.unread ?? 0;
  return (
    <Button asChild variant="ghost" size="icon" className="relative size-9 [&_svg]:size-4.5">
      <Link
        href="/notifications"
        prefetch={false}
        aria-label={unread > 0 ? `Notifications, ${unread} unread` : "Notifications"}
      >
        <BellIcon aria-hidden />
        {unread > 0 && (
          <span
            aria-hidden
            className="absolute top-0 right-0 grid h-4 min-w-4 place-items-center rounded-full bg-primary px-1 text-2xs font-semibold text-on-primary tabular-nums"
          >
            {unread > MOST_SHOWN ? `${MOST_SHOWN}+` : unread}
          </span>
        )}
      </Link>
    </Button>
  );
}
