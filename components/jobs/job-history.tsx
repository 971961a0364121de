"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { ChevronRight, FileBox, SearchX } from "lucide-react";
import Link from "next/link";
import { formatDuration, msBetween } from "@/components/time/format";
import { Ago, Elapsed } from "@/components/time/moment";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/class-names";
import { shortId } from "@/components/ui/copyable-id";
import { EmptyState } from "@/components/ui/empty-state";
import { EndOfList, Pagination } from "@/components/ui/pagination";
import { Table, TableCell, TableHead, TableRow } from "@/components/ui/table";
import { type JobListItem, TERMINAL } from "@/server/contract/jobs";
import { chargeWords } from "./charge-words";
import { FirstJob } from "./first-job";
import { JobStatusBadge } from "./job-status";
import { hasFilter, type ListState, listHref, toJobsQuery } from "./list-state";

const LIVE_MS = 2000;
const IDLE_MS = 15_000;

/** A project's jobs, newest first. Refreshes often while one is running. */
export function JobHistory({
  projectId,
  state,
  baseUrl,
}: {
  projectId: string;
  state: ListState;
  /** The API's base URL, for the example in an empty project. */
  baseUrl: string;
}) {
  const trpc = useTRPC();
  const { data } = useSuspenseQuery({
    ...trpc.jobs.list.queryOptions(toJobsQuery(projectId, state)),
    refetchInterval: (query) => (query.state.data?.items.some(isUnderWay) ? LIVE_MS : IDLE_MS),
  });

  if (data.items.length === 0 && !state.cursor) {
    return (
      <Card>
        {hasFilter(state) ? (
          <EmptyState
            icon={SearchX}
            title="No matching jobs"
            action={
              <Button asChild>
                <Link href={listHref(projectId, {})}>Show all jobs</Link>
              </Button>
            }
          >
            Remove a filter or show all jobs.
          </EmptyState>
        ) : (
          <FirstJob baseUrl={baseUrl} projectId={projectId} />
        )}
      </Card>
    );
  }

  return (
    <div className="space-y-4">
      <Card className="overflow-hidden">
        <div className="hidden md:block">
          <Table>
            <caption className="sr-only">Jobs, newest first</caption>
            <thead>
              <tr>
                <TableHead className="w-44">Status</TableHead>
                <TableHead>Capability</TableHead>
                <TableHead>Job</TableHead>
                <TableHead>Result</TableHead>
                <TableHead className="text-right">You pay</TableHead>
                <TableHead className="text-right">Duration</TableHead>
                <TableHead className="text-right">Created</TableHead>
              </tr>
            </thead>
            <tbody>
              {data.items.map((job) => (
                <TableRow key={job.jobId} className="relative">
                  <TableCell>
                    <JobStatusBadge status={job.status} />
                  </TableCell>
                  <TableCell className="font-medium">{job.capabilityKey}</TableCell>
                  <TableCell>
                    <JobLink projectId={projectId} jobId={job.jobId} />
                  </TableCell>
                  <TableCell>
                    <JobOutcome job={job} />
                  </TableCell>
                  <TableCell className="text-right text-muted">
                    {job.charge && chargeWords(job.charge)}
                  </TableCell>
                  <TableCell className="text-right text-muted">
                    <Took job={job} />
                  </TableCell>
                  <TableCell className="text-right text-muted">
                    <Ago at={job.createdAt} />
                  </TableCell>
                </TableRow>
              ))}
            </tbody>
          </Table>
        </div>
        <ul aria-label="Jobs, newest first" className="divide-y divide-line md:hidden">
          {data.items.map((job) => (
            <li key={job.jobId} className="relative flex items-center gap-3 px-4 py-3">
              <div className="min-w-0 flex-1 space-y-1.5">
                <div className="flex items-center justify-between gap-2">
                  <JobStatusBadge status={job.status} />
                  <span className="text-xs text-muted">
                    <Ago at={job.createdAt} />
                  </span>
                </div>
                <div className="truncate text-sm font-medium">{job.capabilityKey}</div>
                <div className="flex flex-wrap items-center gap-x-3 gap-y-0.5 text-xs text-muted">
                  <JobLink projectId={projectId} jobId={job.jobId} />
                  <JobOutcome job={job} />
                  {job.charge && <span>{chargeWords(job.charge)}</span>}
                </div>
              </div>
              <ChevronRight aria-hidden className="size-4 shrink-0 text-muted" />
            </li>
          ))}
        </ul>
        {data.items.length === 0 && <EndOfList />}
      </Card>
      <Pagination
        label="Pages of jobs"
        state={state}
        nextCursor={data.nextCursor}
        hrefOf={(page) => listHref(projectId, page)}
      />
    </div>
  );
}

function isUnderWay(job: JobListItem): boolean {
  return !TERMINAL.includes(job.status);
}

/** The link covers its whole row. */
function JobLink({ projectId, jobId }: { projectId: string; jobId: string }) {
  return (
    <Link
      href={`/projects/${projectId}/jobs/${jobId}`}
      className="rounded font-mono text-xs text-link after:absolute after:inset-0 hover:underline"
      title={jobId}
    >
      {shortId(jobId)}
    </Link>
  );
}

function JobOutcome({ job }: { job: JobListItem }) {
  if (job.errorCode) {
    return (
      <code className={cn("text-xs", job.status === "failed" ? "text-bad" : "text-muted")}>
        {job.errorCode}
      </code>
    );
  }
  if (job.artifactCount === 0) return null;
  return (
    <span className="inline-flex items-center gap-1.5 text-xs text-muted">
      <FileBox aria-hidden className="size-3.5" />
      {job.artifactCount === 1 ? "1 artifact" : `${job.artifactCount} artifacts`}
      {job.selectedArtifactId && ", one selected"}
    </span>
  );
}

function Took({ job }: { job: JobListItem }) {
  const ms = msBetween(job.createdAt, job.completedAt);
  if (ms !== null) return formatDuration(ms);
  return isUnderWay(job) ? <Elapsed since={job.createdAt} /> : null;
}
