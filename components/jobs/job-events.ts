"use client";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { useTRPCClient } from "@/components/data/trpc";
import { TERMINAL } from "@/server/contract/enums";
import type { JobEvent } from "@/server/contract/job-events";
import type { Job } from "@/server/contract/jobs";
import { eventsKey } from "./events-key";

const PAGE = 200;
const WAIT_SECONDS = 4;
const MS = 1000;

/** Milliseconds until the job is fetched again; false once it can no longer change. */
export function pollMs(job: Pick<Job, "status" | "pollAfterSeconds">): number | false {
  if (TERMINAL.includes(job.status)) return false;
  return (job.pollAfterSeconds ?? WAIT_SECONDS) * MS;
}

/** No event will follow: the job has ended and its last event, the sealed receipt, has arrived. */
export function isComplete(job: Pick<Job, "status" | "receiptId">, events: readonly JobEvent[]): boolean {
  if (!TERMINAL.includes(job.status)) return false;
  return job.receiptId === null || events.some((event) => event.type === "job.receipt_sealed");
}

/** A job's events from the first on, followed by cursor, each fetched once. */
export function useJobEvents(job: Job): JobEvent[] {
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const queryKey = eventsKey(job.jobId);
  const { data } = useQuery(
    queryOptions({
      queryKey,
      queryFn: async ({ signal }) => {
        let seen = queryClient.getQueryData<JobEvent[]>(queryKey) ?? [];
        for (;;) {
          const cursor = seen.at(-1)?.cursor;
          const page = await client.jobs.events.query({ job_id: job.jobId, cursor, limit: PAGE }, { signal });
          seen = [...seen, ...page.events];
          if (!page.nextCursor) return seen;
        }
      },
      staleTime: 0,
      refetchInterval: (query) =>
        isComplete(job, query.state.data ?? []) ? false : pollMs(job) || WAIT_SECONDS * MS,
      refetchOnWindowFocus: !TERMINAL.includes(job.status),
    }),
  );
  return data ?? [];
}
