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

/** Cancels a job after confirmation. Requests already sent to a provider may still be charged. */
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
          ? "This job is running. Requests already sent to the provider may still be charged. The receipt shows the final charge."
          : "This job has not started. Nothing was sent to a provider, so nothing is charged."
      }
      action="Cancel job"
      keep="Keep running"
      onConfirm={() => cancel.mutate({ job_id: job.jobId })}
    >
      <Button pending={cancel.isPending}>
        <CircleStop aria-hidden />
        Cancel
      </Button>
    </Confirm>
  );
}
