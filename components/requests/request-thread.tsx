"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useTRPC } from "@/components/trpc";
import type { CapabilityRequest } from "@/server/contract/requests";
import { EventList } from "./event-list";

/** A request's history, as its organization sees it. */
export function RequestThread({ request }: { request: CapabilityRequest }) {
  const trpc = useTRPC();
  const asked = trpc.requests.events.queryOptions({ request_id: request.id });
  const { data: events, refetch } = useSuspenseQuery(asked);
  // Each change of the request is an event, so a newer request means fetching the events again.
  const last = events.at(-1);
  const isBehind = last !== undefined && last.createdAt < request.updatedAt;
  useEffect(() => {
    if (isBehind) refetch();
  }, [isBehind, refetch]);
  return <EventList events={events} />;
}
