"use client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleStop, RefreshCw } from "lucide-react";
import dynamic from "next/dynamic";
import { useRouter } from "next/navigation";
import { useAction } from "@/components/blocks/data/use-action";
import { useLive } from "@/components/blocks/data/use-live";
import { PageTabs } from "@/components/blocks/detail/page-tabs";
import { ConfirmAction } from "@/components/blocks/feedback/confirm-action";
import { ChoiceField } from "@/components/blocks/form/fields";
import { FormDialog, type FormDialogProps } from "@/components/blocks/form/form-dialog";
import { toOptions } from "@/components/blocks/list/filter-bar";
import { dollars } from "@/components/blocks/money/money";
import { useConnectionLost } from "@/components/connection/connection";
import { useTRPC } from "@/components/data/trpc";
import { PageHeader } from "@/components/shell/page-header";
import { Moment, Took } from "@/components/time/moment";
import { Button } from "@/components/ui/button";
import { CopyableId } from "@/components/ui/copyable-id";
import { Figure, Figures, None } from "@/components/ui/figures";
import Link from "@/components/ui/link";
import { toast } from "@/components/ui/toaster";
import { isPrivate, TERMINAL } from "@/server/contract/enums";
import type { Job, JobRights } from "@/server/contract/jobs";
import { subjectOf } from "@/server/contract/subject";
import { useShownJobs } from "./approval";
import { isBlind } from "./blind";
import { chargeText, chargeWords } from "./charge-words";
import { eventsKey } from "./events-key";
import { useRights } from "./job-actions";
import { JobRequest } from "./job-content";
import { pollMs } from "./job-events";
import { JobRail } from "./job-rail";
import { JobResult } from "./job-result";
import { JobStatusBadge } from "./job-status";
import { JobTimeline } from "./timeline/job-timeline";

const ReceiptCard = dynamic(() => import("./receipt-card").then((module) => module.ReceiptCard));

/** One job: what is paid for it and, in tabs, its result, timeline, receipt and request. */
export function JobPage({ jobId, projectId }: { jobId: string; projectId: string }) {
  const trpc = useTRPC();
  const live = useLive(trpc.jobs.get.queryOptions({ job_id: jobId }), (read) => pollMs(read));
  const job = live.data;
  const rights = useRights(job);
  return (
    <>
      <JobHeader job={job} rights={rights} projectId={projectId} />
      <div className="grid grid-cols-1 items-start gap-x-8 gap-y-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <PageTabs
          label="Parts of the job"
          aside={!TERMINAL.includes(job.status) && <Freshness {...live} />}
          tabs={[
            { id: "result", name: "Result", content: <JobResult job={job} rights={rights} /> },
            { id: "timeline", name: "Timeline", content: <JobTimeline job={job} isTimed={!isBlind(job)} /> },
            { id: "receipt", name: "Receipt", content: <Receipt job={job} /> },
            { id: "request", name: "Request", content: <JobRequest job={job} /> },
          ]}
        />
        <JobRail job={job} />
      </div>
    </>
  );
}

/** Shows whether the page is up to date, and otherwise since when it is not. */
function Freshness({ isStale, dataUpdatedAt }: { isStale: boolean; dataUpdatedAt: number }) {
  if (useConnectionLost() || isStale)
    return (
      <span className="text-warn">
        Paused, as of <Moment at={new Date(dataUpdatedAt).toISOString()} />
      </span>
    );
  return (
    <span className="inline-flex items-center gap-1.5 text-busy">
      <span aria-hidden className="size-2 animate-pulse rounded-full bg-busy" />
      Live
    </span>
  );
}

function Receipt({ job }: { job: Job }) {
  if (job.receiptId !== null) return <ReceiptCard job={job} receiptId={job.receiptId} />;
  return (
    <p className="text-sm text-muted">
      {isBlind(job)
        ? "The receipt is hidden until the comparison is judged."
        : "The receipt is sealed when the job ends."}
    </p>
  );
}

type Props = { job: Job; rights: JobRights | undefined; projectId: string };

function JobHeader({ job, rights, projectId }: Props) {
  const subject = isPrivate(job.dataClassification) ? "Private content" : subjectOf(job);
  return (
    <PageHeader
      back={{ href: `/projects/${projectId}/jobs`, label: "Jobs" }}
      title={subject ?? job.capabilityKey}
      badge={<JobStatusBadge status={job.status} />}
      id={
        <span className="flex flex-wrap items-center gap-x-3 text-sm text-muted">
          {subject !== null && job.capabilityKey}
          <CopyableId id={job.jobId} what="job id" />
        </span>
      }
      actions={
        <>
          <RetryJob job={job} rights={rights} projectId={projectId} />
          {rights?.cancel && <CancelJob job={job} />}
        </>
      }
      foot={
        <Figures>
          {!isBlind(job) && (
            <>
              <YouPay job={job} />
              <Figure name="Queue time">
                <Took from={job.createdAt} to={job.startedAt ?? job.completedAt} />
              </Figure>
              <Figure name="Run time">
                {job.startedAt ? <Took from={job.startedAt} to={job.completedAt} /> : <None />}
              </Figure>
            </>
          )}
          <Figure name="Created" isWide>
            <Moment at={job.createdAt} />
          </Figure>
        </Figures>
      }
    />
  );
}

/** The charge, and its explanation below. */
function YouPay({ job: { charge, chargeResolution } }: { job: Job }) {
  const { micros = null, note } = charge ? chargeText(charge) : {};
  return (
    <Figure
      name="You pay"
      isWide
      note={[note, chargeResolution && "set by a person"].filter(Boolean).join(", ")}
    >
      <span className="text-xl font-semibold">
        {micros !== null ? dollars(micros) : charge ? chargeWords(charge) : <None />}
      </span>
    </Figure>
  );
}

/** Cancels a job after confirmation. Requests already sent to a provider may still be charged. */
function CancelJob({ job }: { job: Job }) {
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

type RetryJobProps = { job: Job; rights: JobRights | undefined; projectId: string };

/**
 * Submits a job's request again after a confirmation, which warns if the provider may have run the job. After a refusal the
 * reader may choose another model.
 */
function RetryJob({ job, rights, projectId }: RetryJobProps) {
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
      <>
        {job.charge?.state === "unsettled" && (
          <Button asChild>
            <Link href={`/projects/${projectId}/budgets`}>Resolve charge</Link>
          </Button>
        )}
        <ConfirmAction
          icon={RefreshCw}
          label="Run again"
          title="Run this job again?"
          description="The provider may already have run it, and you may be charged a second time. This submits a new job with the same request."
          action="Run again"
          onConfirm={() => retry.mutate({ ...ask, body: { acceptPossibleDuplicateCharge: true } })}
          pending={retry.isPending}
        />
      </>
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

/** Another model for a request that a model has refused. */
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
