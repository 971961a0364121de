"use client";
import { FileBox, Rocket } from "lucide-react";
import { soonWhile, useLive } from "@/components/blocks/data/use-live";
import { CreateKeyLink, FirstCommand } from "@/components/blocks/feedback/first-command";
import { column } from "@/components/blocks/list/columns";
import { toOptions } from "@/components/blocks/list/filter-bar";
import { ListTable } from "@/components/blocks/list/list-card";
import { RowLink, type TableColumn } from "@/components/blocks/list/resource-table";
import { Reason } from "@/components/blocks/status/reason";
import { WorkCell } from "@/components/blocks/work/work";
import { useTRPC } from "@/components/data/trpc";
import { ChargeAmount } from "@/components/jobs/charge-words";
import { JOB_STATUS_OPTIONS, JobStatusBadge } from "@/components/jobs/job-status";
import { formatDuration, msBetween } from "@/components/time/format";
import { Elapsed } from "@/components/time/moment";
import { TERMINAL } from "@/server/contract/enums";
import type { JobListItem } from "@/server/contract/jobs";
import type { OfWork } from "@/server/contract/work";
import { hasFilter, type JobListState, listHref, toJobsQuery } from "./list-state";

type Props = {
  projectId: string;
  state: JobListState;
  /** The capability keys to filter by. */
  capabilities: string[];
  /** The API's base URL, for the example in an empty project. */
  baseUrl: string;
};

/** A project's jobs, newest first, with their filters. Refreshes often while one is running. */
export function JobHistory({ projectId, state, capabilities, baseUrl }: Props) {
  const trpc = useTRPC();
  const { data } = useLive(
    trpc.jobs.list.queryOptions(toJobsQuery(projectId, state)),
    soonWhile(({ items }) => items.some(isUnderWay)),
  );
  const hrefOf = (next: JobListState) => listHref(projectId, next);
  return (
    <ListTable
      filters={[
        { name: "status", label: "Status", any: "Any status", options: JOB_STATUS_OPTIONS },
        { name: "outcome", label: "Outcome", any: "Any outcome", options: OUTCOMES },
        {
          name: "capability",
          label: "Capability",
          any: "Any capability",
          options: toOptions(capabilities),
        },
        { name: "tag", label: "Tag", longest: 256 },
      ]}
      noun="jobs"
      page={data}
      state={state}
      hrefOf={hrefOf}
      allHref={hrefOf({})}
      isFiltered={hasFilter(state)}
      first={<FirstJob baseUrl={baseUrl} projectId={projectId} />}
      label="Jobs, newest first"
      idOf={({ jobId }) => jobId}
      columns={columnsOf(projectId)}
    />
  );
}

const OUTCOMES = [
  { value: "failed", label: "Failed" },
  { value: "reusable", label: "With reusable output" },
];

const columnsOf = (projectId: string): TableColumn<OfWork<JobListItem>>[] => [
  column.title("Job", ({ work, capabilityKey, jobId }) => (
    <WorkCell work={work} otherwise={capabilityKey}>
      <RowLink href={`/projects/${projectId}/jobs/${jobId}`} id={jobId} />
    </WorkCell>
  )),
  column.status(({ status }) => <JobStatusBadge status={status} />),
  { header: "Result", cell: (job) => <JobOutcome job={job} /> },
  column.amount("You pay", ({ charge }) => charge && <ChargeAmount charge={charge} />),
  column.quiet("Duration", (job) => <Took job={job} />, "hidden"),
  column.ago("Created", ({ createdAt }) => createdAt),
];

function isUnderWay(job: JobListItem): boolean {
  return !TERMINAL.includes(job.status);
}

function JobOutcome({ job }: { job: JobListItem }) {
  if (job.errorCode) {
    return <Reason code={job.errorCode} className={job.status === "failed" ? "text-bad" : "text-muted"} />;
  }
  if (job.artifactCount === 0) return null;
  return (
    <span className="inline-flex items-center gap-1.5 align-middle text-xs text-muted">
      <FileBox aria-hidden className="size-3.5" />
      {job.artifactCount === 1 ? "1 artifact" : `${job.artifactCount} artifacts`}
      {job.selectedArtifactId && ", one selected"}
    </span>
  );
}

function Took({ job }: { job: JobListItem }) {
  const ms = msBetween(job.createdAt, job.completedAt);
  if (ms !== null) return formatDuration(ms);
  // A job that waits for its turn or for a person has no duration yet.
  return job.status === "running" || job.status === "canceling" ? <Elapsed since={job.createdAt} /> : null;
}

/** Shown in a project without jobs: the command that runs the first one. */
function FirstJob({ baseUrl, projectId }: { baseUrl: string; projectId: string }) {
  return (
    <FirstCommand
      icon={Rocket}
      title="Run your first job"
      action={<CreateKeyLink projectId={projectId} />}
      baseUrl={baseUrl}
      path="/v1/capabilities/text.general.fast.v1/jobs"
      body={`{
    "context": { "projectId": "${projectId}" },
    "input": { "messages": [{ "role": "user", "content": "Say hello" }] }
  }`}
    >
      Jobs that agents and programs submit appear here with their events, output and receipt. Create a key,
      put it into <code className="text-sm">CAPSTAN_API_KEY</code> and submit one:
    </FirstCommand>
  );
}
