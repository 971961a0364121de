"use client";
import { useQueryClient } from "@tanstack/react-query";
import { CircleStop } from "lucide-react";
import { toast } from "sonner";
import { useTRPC } from "@/components/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import { Button } from "@/components/ui/button";
import { useMutation } from "@/components/use-mutation";
import { type Job, TERMINAL } from "@/server/contract/jobs";
import { eventsKey } from "./events-key";

/** Stops a job, after asking. What a provider has already been asked for may still cost. */
export function CancelJob({ job }: { job: Job }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const cancel = useMutation(
    trpc.jobs.cancel.mutationOptions({
      onSuccess: (fresh) => {
        queryClient.setQueryData(trpc.jobs.get.queryKey({ job_id: job.jobId }), fresh);
        toast.success(fresh.status === "canceled" ? "Job canceled" : "Cancel requested");
      },
      onSettled: () =>
        Promise.all([
          queryClient.invalidateQueries({ queryKey: trpc.jobs.pathKey() }),
          queryClient.invalidateQueries({ queryKey: eventsKey(job.jobId) }),
        ]),
    }),
  );
  if (TERMINAL.includes(job.status) || job.status === "canceling") return null;
  return (
    <Confirm
      title="Cancel this job?"
      description={
        job.status === "running"
          ? "It is running. What the provider has already been asked for may still be charged; the receipt will say."
          : "It has not started. Nothing has been sent to a provider, and nothing will be charged."
      }
      action="Cancel job"
      keep="Let it run"
      onConfirm={() => cancel.mutate({ job_id: job.jobId })}
    >
      <Button pending={cancel.isPending}>
        <CircleStop aria-hidden />
        Cancel
      </Button>
    </Confirm>
  );
}
