"use client";
import { useQuery } from "@tanstack/react-query";
import { RefreshCw } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { toast } from "sonner";
import { useTRPC } from "@/components/trpc";
import { Confirm } from "@/components/ui/alert-dialog";
import { Button } from "@/components/ui/button";
import { Dialog, DialogContent, DialogTrigger, SubmitActions } from "@/components/ui/dialog";
import { Label } from "@/components/ui/label";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { useMutation } from "@/components/use-mutation";
import type { Job, JobRights } from "@/server/contract/jobs";
import { useRefresh } from "./approval";

type Props = { job: Job; rights: JobRights | undefined; projectId: string };

/**
 * Submits a job's request again: where nothing was charged at once, and on another model after a refusal; where its provider may
 * have run it, after a warning.
 */
export function RetryJob({ job, rights, projectId }: Props) {
  const trpc = useTRPC();
  const router = useRouter();
  const retry = useMutation(
    trpc.jobs.retry.mutationOptions({
      onSuccess: (fresh) => {
        toast.success("New job submitted");
        router.push(`/projects/${projectId}/jobs/${fresh.jobId}`);
      },
      onSettled: useRefresh(job.jobId),
    }),
  );
  const ask = { job_id: job.jobId };
  if (rights?.runAgain)
    return (
      <Confirm
        title="Run this job again?"
        description="The provider may already have run it, and you may be charged a second time. This submits a new job with the same request."
        action="Run again"
        onConfirm={() => retry.mutate({ ...ask, body: { acceptPossibleDuplicateCharge: true } })}
      >
        <Button pending={retry.isPending}>
          <RefreshCw aria-hidden />
          Run again
        </Button>
      </Confirm>
    );
  if (!rights?.retry) return null;
  return (
    <>
      {job.error?.code === "ProviderRejected" && (
        <OtherModel
          job={job}
          projectId={projectId}
          isPending={retry.isPending}
          onChoose={(model) => retry.mutate({ ...ask, body: { model } })}
        />
      )}
      <Confirm
        title="Retry this job?"
        description="Nothing ran and nothing was charged. This submits a new job with the same request."
        action="Retry job"
        actionVariant="primary"
        onConfirm={() => retry.mutate(ask)}
      >
        <Button pending={retry.isPending}>
          <RefreshCw aria-hidden />
          Retry job
        </Button>
      </Confirm>
    </>
  );
}

/** Another model for a request that one has refused. */
function OtherModel({
  job,
  projectId,
  isPending,
  onChoose,
}: {
  job: Job;
  projectId: string;
  isPending: boolean;
  onChoose: (model: string) => void;
}) {
  const trpc = useTRPC();
  const [model, setModel] = useState("");
  const { data } = useQuery(
    trpc.catalog.targets.queryOptions({ project_id: projectId, capability_key: job.capabilityKey }),
  );
  const others = (data?.targets ?? []).filter(
    ({ availability, target }) => availability.available && target !== job.diagnostics?.backendId,
  );
  if (others.length === 0) return null;
  return (
    <Dialog>
      <DialogTrigger asChild>
        <Button>Try another model</Button>
      </DialogTrigger>
      <DialogContent
        title="Try another model"
        description="This submits a new job with the same request. Another model may accept it, at its own price."
      >
        <form
          className="space-y-4"
          onSubmit={(event) => {
            event.preventDefault();
            if (model) onChoose(model);
          }}
        >
          <div className="space-y-1.5">
            <Label htmlFor="other-model">Model</Label>
            <Select value={model} onValueChange={setModel}>
              <SelectTrigger id="other-model" />
              <SelectContent>
                {others.map(({ target }) => (
                  <SelectItem key={target} value={target}>
                    {target}
                  </SelectItem>
                ))}
              </SelectContent>
            </Select>
          </div>
          <SubmitActions pending={isPending}>Submit job</SubmitActions>
        </form>
      </DialogContent>
    </Dialog>
  );
}
