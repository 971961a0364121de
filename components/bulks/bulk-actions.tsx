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

/** Stops what has not been sent, after asking. */
export function CancelBulk({ bulk }: { bulk: PinnedBulk }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const cancel = useMutation(
    trpc.pinned.cancelBulk.mutationOptions({
      onSuccess: () => toast.success("Nothing more is sent"),
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.pinned.pathKey() }),
    }),
  );
  if (bulk.nextAction === "stop" || bulk.cancelRequestedAt) return null;
  return (
    <Confirm
      title="Cancel this bulk?"
      description={`${items(bulk.counts.queued)} not sent yet will never be sent. What was sent already is waited for, since it may be charged.`}
      action="Cancel bulk"
      keep="Let it run"
      onConfirm={() => cancel.mutate({ bulk_id: bulk.bulkId })}
    >
      <Button pending={cancel.isPending}>
        <CircleStop aria-hidden />
        Cancel
      </Button>
    </Confirm>
  );
}

/** Sends the items that certainly did not run once more, as a bulk of their own. */
export function RetryBulk({ bulk, projectId }: { bulk: PinnedBulk; projectId: string }) {
  const trpc = useTRPC();
  const router = useRouter();
  const queryClient = useQueryClient();
  const retry = useMutation(
    trpc.pinned.retryBulk.mutationOptions({
      onSuccess: (fresh) => {
        toast.success("Sent again as a new bulk");
        router.push(bulkHref(projectId, fresh.bulkId));
      },
      onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.pinned.pathKey() }),
    }),
  );
  const count = bulk.safelyRetryable;
  if (bulk.nextAction === "poll" || count === 0) return null;
  return (
    <Confirm
      title={`Run ${items(count)} again?`}
      description="They certainly did not run, so nothing runs twice. A new bulk is made with the same pin and settings; items that ran or may have run stay out of it."
      action="Run again"
      actionVariant="primary"
      keep="Not now"
      onConfirm={() => retry.mutate({ bulk_id: bulk.bulkId })}
    >
      <Button variant="primary" pending={retry.isPending}>
        <RefreshCw aria-hidden />
        Run the{" "}
        {count === 1 ? "safely retryable item" : `${count.toLocaleString("en-US")} safely retryable items`}{" "}
        again
      </Button>
    </Confirm>
  );
}
