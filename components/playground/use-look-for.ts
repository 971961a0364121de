"use client";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useEffectEvent, useState } from "react";
import { isUnanswered, useTRPC } from "@/components/trpc";
import type { KeptRun } from "./kept-run";

const LOOK_MS = 1000;
const MOST_LOOKS = 15;

/**
 * Finds the job of a run whose response was lost, by the run's idempotency key, and passes on the job's id. Passes on
 * null when no job appears after a while: the request never arrived, or was refused.
 */
export function useLookFor(projectId: string, onFound: (jobId: string | null, run: KeptRun) => void) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [run, setRun] = useState<KeptRun | null>(null);

  const look = useEffectEvent(async ({ mode, idempotencyKey }: KeptRun, signal: AbortSignal) => {
    const query = trpc.jobs.ofKey.queryOptions({
      project_id: projectId,
      operation: mode === "job_async" ? "jobs" : "invoke",
      idempotency_key: idempotencyKey,
    });
    for (let looks = 0; looks < MOST_LOOKS && !signal.aborted; ) {
      try {
        const { jobId } = await queryClient.fetchQuery({ ...query, staleTime: 0, retry: false });
        if (jobId !== null) return jobId;
        looks++;
      } catch (error) {
        if (!isUnanswered(error)) return null;
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
    return null;
  });
  const found = useEffectEvent(onFound);

  useEffect(() => {
    if (!run) return;
    const stop = new AbortController();
    void look(run, stop.signal).then((jobId) => {
      if (stop.signal.aborted) return;
      setRun(null);
      found(jobId, run);
    });
    return () => stop.abort();
  }, [run]);

  return { lookFor: setRun, isLooking: run !== null };
}
