import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { AttentionRoom } from "@/components/jobs/attention-room";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Needs attention" };

export default async function AttentionPage() {
  await requirePerson("/attention");
  await panelRead(({ trpc, queryClient }) => queryClient.fetchQuery(trpc.attention.list.queryOptions()));
  return (
    <HydrationBoundary state={panelState()}>
      <AttentionRoom />
    </HydrationBoundary>
  );
}
