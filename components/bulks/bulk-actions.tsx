"use client";
import { CircleStop, RefreshCw } from "lucide-react";
import { useRouter } from "next/navigation";
import { toast } from "sonner";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { bulkHref } from "@/components/pins/list-state";
import { useTRPC } from "@/components/trpc";
import type { PinnedBulk } from "@/server/contract/pinned";

const items = (count: number) => (count === 1 ? "1 item" : `${count.toLocaleString("en-US")} items`);

/** Cancels the items that have not been sent, after a confirmation. */
export function CancelBulk({ bulk }: { bulk: PinnedBulk }) {
  const trpc = useTRPC();
  const cancel = useAction(trpc.pinned.cancelBulk.mutationOptions(), {
    done: "Cancel requested",
    refresh: [trpc.pinned.pathKey()],
  });
  if (bulk.nextAction === "stop" || bulk.cancelRequestedAt) return null;
  return (
    <ConfirmAction
      icon={CircleStop}
      label="Cancel"
      title="Cancel this bulk?"
      description={`${items(bulk.counts.queued)} not sent yet will be canceled. Items already sent will finish, since they may be charged.`}
      action="Cancel bulk"
      keep="Keep running"
      onConfirm={() => cancel.mutate({ bulk_id: bulk.bulkId })}
      pending={cancel.isPending}
    />
  );
}

/** Retries the items that did not run, as a new bulk. */
export function RetryBulk({ bulk, projectId }: { bulk: PinnedBulk; projectId: string }) {
  const trpc = useTRPC();
  const router = useRouter();
  const retry = useAction(trpc.pinned.retryBulk.mutationOptions(), {
    onDone: (fresh) => {
      toast.success("Retry started as a new bulk");
      router.push(bulkHref(projectId, fresh.bulkId));
    },
    refresh: [trpc.pinned.pathKey()],
  });
  const count = bulk.safelyRetryable;
  if (bulk.nextAction === "poll" || count === 0) return null;
  return (
    <ConfirmAction
      icon={RefreshCw}
      label={`Retry ${items(count)}`}
      title={`Retry ${items(count)}?`}
      description="These items did not run, so nothing runs twice. They are sent as a new bulk with the same pin and settings. Items that ran or may have run are left out."
      action="Retry items"
      isHarmless
      onConfirm={() => retry.mutate({ bulk_id: bulk.bulkId })}
      variant="primary"
      pending={retry.isPending}
    />
  );
}
