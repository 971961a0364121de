"use client";
import { useQueryClient } from "@tanstack/react-query";
import { CircleStop } from "lucide-react";
import { toast } from "sonner";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { useTRPC } from "@/components/trpc";
import { TERMINAL } from "@/server/contract/enums";
import type { Job } from "@/server/contract/jobs";
import { eventsKey } from "./events-key";

/** Cancels a job after confirmation. Requests already sent to a provider may still be charged. */
export function CancelJob({ job }: { job: Job }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const cancel = useAction(trpc.jobs.cancel.mutationOptions(), {
    onDone: (fresh) => {
      queryClient.setQueryData(trpc.jobs.get.queryKey({ job_id: job.jobId }), fresh);
      toast.success(fresh.status === "canceled" ? "Job canceled" : "Cancel requested");
    },
    refresh: [trpc.jobs.pathKey(), eventsKey(job.jobId)],
  });
  if (TERMINAL.includes(job.status) || job.status === "canceling") return null;
  return (
    <ConfirmAction
      icon={CircleStop}
      label="Cancel"
      title="Cancel this job?"
      description={
        job.status === "running"
          ? "This job is running. Requests already sent to the provider may still be charged. The receipt shows the final charge."
          : "This job has not started. Nothing was sent to a provider, so nothing is charged."
      }
      action="Cancel job"
      keep="Keep running"
      onConfirm={() => cancel.mutate({ job_id: job.jobId })}
      pending={cancel.isPending}
    />
  );
}
