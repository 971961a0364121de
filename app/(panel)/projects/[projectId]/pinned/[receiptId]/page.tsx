import { HydrationBoundary } from "@tanstack/react-query";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { recordHref } from "@/components/pins/list-state";
import { PinPage } from "@/components/pins/pin-page";
import { requirePerson } from "@/server/auth/session";
import { panelRead, panelState } from "@/server/trpc/prefetch";

type Props = { params: Promise<{ projectId: string; receiptId: string }> };

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  return { title: `Pinned record ${(await params).receiptId}` };
}

export default async function RecordPage({ params }: Props) {
  const { projectId, receiptId } = await params;
  await requirePerson(recordHref(projectId, receiptId));
  await panelRead(async ({ trpc, queryClient }) => {
    const record = await queryClient.fetchQuery(trpc.pinned.get.queryOptions({ receipt_id: receiptId }));
    if (record.projectId !== projectId) notFound();
  });
  return (
    <HydrationBoundary state={panelState()}>
      <PinPage receiptId={receiptId} projectId={projectId} />
    </HydrationBoundary>
  );
}
