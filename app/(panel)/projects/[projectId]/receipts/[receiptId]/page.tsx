import { TRPCError } from "@trpc/server";
import { redirect } from "next/navigation";
import { recordHref } from "@/components/pins/list-state";
import { requirePerson } from "@/server/auth/session";
import { panelRead } from "@/server/trpc/prefetch";

type Props = { params: Promise<{ projectId: string; receiptId: string }> };

/** Redirects a receipt id, as used in a manifest, to its pinned record or its job. */
export default async function ReceiptById({ params }: Props) {
  const { projectId, receiptId } = await params;
  await requirePerson(`/projects/${projectId}/receipts/${receiptId}`);
  const isPinned = await panelRead(({ trpc, queryClient }) =>
    queryClient.fetchQuery(trpc.pinned.get.queryOptions({ receipt_id: receiptId })).then(
      () => true,
      (error) => {
        if (error instanceof TRPCError && error.code === "NOT_FOUND") return false;
        throw error;
      },
    ),
  );
  redirect(
    isPinned ? recordHref(projectId, receiptId) : `/jobs/${receiptId.replace("rcpt_", "wfr_")}?tab=receipt`,
  );
}
