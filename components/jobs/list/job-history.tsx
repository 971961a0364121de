"use client";
import { FileBox } from "lucide-react";
import { soonWhile, useLive } from "@/components/blocks/data/use-live";
import { FilterBar, toOptions } from "@/components/blocks/list/filter-bar";
import { ListCard } from "@/components/blocks/list/list-card";
import { type Column, ResourceTable, RowLink } from "@/components/blocks/list/resource-table";
import { Reason } from "@/components/blocks/status/reason";
import { WORK_COLUMN, WorkCell } from "@/components/blocks/work/work";
import { chargeWords } from "@/components/jobs/charge-words";
import { JOB_STATUS_OPTIONS, JobStatusBadge } from "@/components/jobs/job-status";
import { formatDuration, msBetween } from "@/components/time/format";
import { Ago, Elapsed } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { TERMINAL } from "@/server/contract/enums";
import type { JobListItem } from "@/server/contract/jobs";
import type { OfWork } from "@/server/contract/work";
import { FirstJob } from "./first-job";
import { hasFilter, type ListState, listHref, toJobsQuery } from "./list-state";

/** A project's jobs, newest first, with their filters. Refreshes often while one is running. */
export function JobHistory({
  projectId,
  state,
  capabilities,
  baseUrl,
}: {
  projectId: string;
  state: ListState;
  /** The capability keys to filter by. */
  capabilities: string[];
  /** The API's base URL, for the example in an empty project. */
  baseUrl: string;
}) {
  const trpc = useTRPC();
  const { data } = useLive(
    trpc.jobs.list.queryOptions(toJobsQuery(projectId, state)),
    soonWhile(({ items }) => items.some(isUnderWay)),
  );
  const hrefOf = (next: ListState) => listHref(projectId, next);
  return (
    <>
      <FilterBar
        label="Filter jobs"
        className="mb-4"
        state={state}
        hrefOf={hrefOf}
        fields={[
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
      />
      <ListCard
        noun="jobs"
        page={data}
        state={state}
        hrefOf={hrefOf}
        allHref={hrefOf({})}
        isFiltered={hasFilter(state)}
        first={<FirstJob baseUrl={baseUrl} projectId={projectId} />}
      >
        <ResourceTable
          label="Jobs, newest first"
          rows={data.items}
          idOf={({ jobId }) => jobId}
          columns={columnsOf(projectId)}
        />
      </ListCard>
    </>
  );
}

const OUTCOMES = [
  { value: "failed", label: "Failed" },
  { value: "reusable", label: "With reusable output" },
];

const columnsOf = (projectId: string): Column<OfWork<JobListItem>>[] => [
  {
    header: "Job",
    card: "title",
    className: WORK_COLUMN,
    cell: ({ work, capabilityKey, jobId }) => (
      <WorkCell work={work} otherwise={capabilityKey}>
        <RowLink href={`/projects/${projectId}/jobs/${jobId}`} id={jobId} />
      </WorkCell>
    ),
  },
  { header: "Status", card: "status", cell: ({ status }) => <JobStatusBadge status={status} /> },
  { header: "Result", cell: (job) => <JobOutcome job={job} /> },
  {
    header: "You pay",
    align: "end",
    className: "text-muted",
    cell: ({ charge }) => charge && chargeWords(charge),
  },
  { header: "Duration", align: "end", className: "text-muted", cell: (job) => <Took job={job} /> },
  {
    header: "Created",
    align: "end",
    className: "text-muted",
    cell: ({ createdAt }) => <Ago at={createdAt} />,
  },
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
  // What waits, for its turn or for a person, has not taken any time yet.
  return job.status === "running" || job.status === "canceling" ? <Elapsed since={job.createdAt} /> : null;
}
