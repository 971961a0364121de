"use client";
import { useQuery } from "@tanstack/react-query";
import { RefreshCw } from "lucide-react";
import { useRouter } from "next/navigation";
import { useAction } from "@/components/blocks/data/use-action";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { ChoiceField } from "@/components/blocks/form/fields";
import { FormDialog, type FormDialogProps } from "@/components/blocks/form/form-dialog";
import { toOptions } from "@/components/blocks/list/filter-bar";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import type { Job, JobRights } from "@/server/contract/jobs";
import { useShownJobs } from "./approval";

type Props = { job: Job; rights: JobRights | undefined; projectId: string };

/**
 * Submits a job's request again: where nothing was charged at once, and on another model after a refusal; where its provider may
 * have run it, after a warning.
 */
export function RetryJob({ job, rights, projectId }: Props) {
  const trpc = useTRPC();
  const router = useRouter();
  const retry = useAction(trpc.jobs.retry.mutationOptions(), {
    done: "New job submitted",
    onDone: (fresh) => router.push(`/projects/${projectId}/jobs/${fresh.jobId}`),
    refresh: useShownJobs(job.jobId),
  });
  const ask = { job_id: job.jobId };
  if (rights?.runAgain)
    return (
      <ConfirmAction
        icon={RefreshCw}
        label="Run again"
        title="Run this job again?"
        description="The provider may already have run it, and you may be charged a second time. This submits a new job with the same request."
        action="Run again"
        onConfirm={() => retry.mutate({ ...ask, body: { acceptPossibleDuplicateCharge: true } })}
        pending={retry.isPending}
      />
    );
  if (!rights?.retry) return null;
  return (
    <>
      {job.error?.code === "ProviderRejected" && (
        <OtherModel
          job={job}
          projectId={projectId}
          retry={retry}
          onChoose={(model) => retry.mutate({ ...ask, body: { model } })}
        />
      )}
      <ConfirmAction
        icon={RefreshCw}
        label="Retry job"
        title="Retry this job?"
        description="Nothing ran and nothing was charged. This submits a new job with the same request."
        action="Retry job"
        isHarmless
        onConfirm={() => retry.mutate(ask)}
        pending={retry.isPending}
      />
    </>
  );
}

type OtherModelProps = {
  job: Job;
  projectId: string;
  retry: FormDialogProps["action"];
  onChoose: (model: string) => void;
};

/** Another model for a request that one has refused. */
function OtherModel({ job, projectId, retry, onChoose }: OtherModelProps) {
  const trpc = useTRPC();
  const { data } = useQuery(
    trpc.catalog.targets.queryOptions({ project_id: projectId, capability_key: job.capabilityKey }),
  );
  const others = (data?.targets ?? []).filter(
    ({ availability, target }) => availability.available && target !== job.diagnostics?.backendId,
  );
  if (others.length === 0) return null;
  return (
    <FormDialog
      title="Try another model"
      description="This submits a new job with the same request. Another model may accept it, at its own price."
      trigger={<Button>Try another model</Button>}
      action={retry}
      send={(sent) => sent.given("model") && onChoose(sent.text("model"))}
      submit="Submit job"
    >
      <ChoiceField name="model" label="Model" options={toOptions(others.map(({ target }) => target))} />
    </FormDialog>
  );
}
