"use client";
import { useQueryClient } from "@tanstack/react-query";
import { CircleStop, RefreshCw } from "lucide-react";
import { useRouter } from "next/navigation";
import { toast } from "sonner";
import { bulkHref } from "@/components/pins/list-state";
import { useTRPC } from "@/components/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import { Button } from "@/components/ui/button";
import { useMutation } from "@/components/use-mutation";
import type { PinnedBulk } from "@/server/contract/pinned";

const items = (count: number) => (count === 1 ? "1 item" : `${count.toLocaleString("en-US")} items`);

/** Cancels the items that have not been sent, after a confirmation. */
export function CancelBulk({ bulk }: { bulk: PinnedBulk }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const cancel = useMutation(
    trpc.pinned.cancelBulk.mutationOptions({
      onSuccess: () => toast.success("Cancel requested"),
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.pinned.pathKey() }),
    }),
  );
  if (bulk.nextAction === "stop" || bulk.cancelRequestedAt) return null;
  return (
    <Confirm
      title="Cancel this bulk?"
      description={`${items(bulk.counts.queued)} not sent yet will be canceled. Items already sent will finish, since they may be charged.`}
      action="Cancel bulk"
      keep="Keep running"
      onConfirm={() => cancel.mutate({ bulk_id: bulk.bulkId })}
    >
      <Button pending={cancel.isPending}>
        <CircleStop aria-hidden />
        Cancel
      </Button>
    </Confirm>
  );
}

/** Retries the items that did not run, as a new bulk. */
export function RetryBulk({ bulk, projectId }: { bulk: PinnedBulk; projectId: string }) {
  const trpc = useTRPC();
  const router = useRouter();
  const queryClient = useQueryClient();
  const retry = useMutation(
    trpc.pinned.retryBulk.mutationOptions({
      onSuccess: (fresh) => {
        toast.success("Retry started as a new bulk");
        router.push(bulkHref(projectId, fresh.bulkId));
      },
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.pinned.pathKey() }),
    }),
  );
  const count = bulk.safelyRetryable;
  if (bulk.nextAction === "poll" || count === 0) return null;
  return (
    <Confirm
      title={`Retry ${items(count)}?`}
      description="These items did not run, so nothing runs twice. They are sent as a new bulk with the same pin and settings. Items that ran or may have run are left out."
      action="Retry items"
      actionVariant="primary"
      onConfirm={() => retry.mutate({ bulk_id: bulk.bulkId })}
    >
      <Button variant="primary" pending={retry.isPending}>
        <RefreshCw aria-hidden />
        Retry {items(count)}
      </Button>
    </Confirm>
  );
}
