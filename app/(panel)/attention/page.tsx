import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { AttentionRoom } from "@/components/jobs/attention-room";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

export const metadata: Metadata = { title: "Needs attention" };

export default async function AttentionPage() {
  const person = await requirePerson("/attention");
  if (!person.isOperator) notFound();
  await panelRead(({ trpc, queryClient }) => queryClient.fetchQuery(trpc.attention.list.queryOptions()));
  return (
    <HydrationBoundary state={panelState()}>
      <AttentionRoom />
    </HydrationBoundary>
  );
}
