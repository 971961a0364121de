"use client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useEffectEvent, useRef, useState } from "react";
import { useAction } from "@/components/blocks/data/use-action";
import { type Failure, isUnanswered, toFailure, useTRPC, useTRPCClient } from "@/components/data/trpc";
import { pollMs } from "@/components/jobs/job-events";
import type { Job } from "@/server/contract/jobs";
import { type KeptRun, keepRun, keptRun } from "./kept-run";

export type RunMode = "invoke_sync" | "invoke_stream" | "job_async";
export type RunRequest = { mode: RunMode; body: Record<string, unknown> };

export type PlaygroundRun = {
  state: "idle" | "sending" | "running" | "ended";
  mode: RunMode | null;
  /** The execution, once known. */
  job: Job | null;
  jobId: string | null;
  /** The text streamed so far. */
  text: string;
  failure: Failure | null;
  start(request: RunRequest): void;
  cancel(): void;
  canCancel: boolean;
};

/**
 * One run of a capability: synchronous, streamed, or a durable job. In every mode the job is its record. After a reload or a
 * lost connection the run is found and followed again.
 */
export function useRun(projectId: string, capabilityKey: string): PlaygroundRun {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const [jobId, setJobId] = useState<string | null>(null);
  const [mode, setMode] = useState<RunMode | null>(null);
  const { text, isStreaming, follow, leave, clear } = useFrames();
  const keep = (run: KeptRun | null) => keepRun(projectId, capabilityKey, run);

  /** Follows this job from now on. */
  function take(id: string, run: Pick<KeptRun, "mode" | "idempotencyKey">) {
    keep({ mode: run.mode, idempotencyKey: run.idempotencyKey, jobId: id });
    setJobId(id);
    if (run.mode === "invoke_stream") follow(id);
  }

  const sending = useAction(
    {
      mutationFn: (request: RunRequest & { idempotencyKey: string }) =>
        send(client, { projectId, capabilityKey }, request),
      onError(error, { mode, idempotencyKey }) {
        if (isUnanswered(error)) return lookFor({ mode, idempotencyKey, jobId: null });
        // A failure after admission names the execution.
        const { executionId } = toFailure(error).details;
        if (typeof executionId === "string") setJobId(executionId);
      },
    },
    { isInPlace: true, onDone: take, refresh: [trpc.jobs.list.pathKey()] },
  );

  const { lookFor, isLooking } = useLookFor(projectId, (id, run) => {
    if (id === null) return keep(null);
    sending.reset(); // the request failed only because of the connection
    take(id, run);
  });

  const resume = useEffectEvent((run: KeptRun) => {
    setMode(run.mode);
    if (run.jobId === null) lookFor(run);
    else take(run.jobId, run);
  });
  useEffect(() => {
    const kept = keptRun(projectId, capabilityKey);
    if (kept) resume(kept);
    return leave;
  }, [projectId, capabilityKey, leave]);

  const { watched, canceling } = useWatchedJob(jobId);
  const job = jobId === null ? null : (watched.data ?? null);
  const isFinished = job !== null && pollMs(job) === false && !isStreaming;
  const state = stateOf();

  function stateOf(): PlaygroundRun["state"] {
    if (sending.isPending || isLooking) return "sending";
    if (isFinished) return "ended";
    const failure = sending.error ?? (job === null ? watched.error : null);
    if (failure && !watched.isFetching && !isUnanswered(watched.error)) return "ended";
    if (jobId !== null) return "running";
    return sending.isError ? "ended" : "idle";
  }

  const hasEnded = state === "ended";
  useEffect(() => {
    if (hasEnded) keepRun(projectId, capabilityKey, null);
  }, [hasEnded, projectId, capabilityKey]);

  return {
    state,
    mode,
    job,
    jobId,
    text,
    failure: sending.error && !isLooking ? toFailure(sending.error) : null,
    start(request) {
      clear();
      setJobId(null);
      setMode(request.mode);
      const idempotencyKey = crypto.randomUUID();
      keep({ mode: request.mode, idempotencyKey, jobId: null });
      sending.mutate({ ...request, idempotencyKey });
    },
    cancel: () => jobId !== null && canceling.mutate({ job_id: jobId }),
    canCancel: state === "running" && jobId !== null && !canceling.isPending && job?.status !== "canceling",
  };
}

const LOOK_MS = 1000;
const MOST_LOOKS = 15;

/**
 * Finds the job of a run whose response was lost, by the run's idempotency key, and passes its id to `onFound`. Passes null
 * if no job appears after a while, because the request never arrived or was refused.
 */
function useLookFor(projectId: string, onFound: (jobId: string | null, run: KeptRun) => void) {
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

/** Sends the request, and returns the id of its job or execution. */
async function send(
  client: ReturnType<typeof useTRPCClient>,
  { projectId, capabilityKey }: { projectId: string; capabilityKey: string },
  { mode, body, idempotencyKey }: RunRequest & { idempotencyKey: string },
): Promise<string> {
  const request = { project_id: projectId, capability_key: capabilityKey, body: { ...body, idempotencyKey } };
  if (mode === "job_async") return (await client.catalog.submit.mutate(request)).jobId;
  return (await client.catalog.invoke.mutate(request)).executionId;
}

/** The text of a streamed execution as it arrives. */
function useFrames() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const [text, setText] = useState("");
  const [isStreaming, setStreaming] = useState(false);
  const following = useRef<{ unsubscribe(): void } | null>(null);

  function follow(executionId: string) {
    setStreaming(true);
    const stop = () => {
      setStreaming(false);
      void queryClient.invalidateQueries({ queryKey: trpc.jobs.get.queryKey({ job_id: executionId }) });
    };
    following.current = client.catalog.frames.subscribe(
      { execution_id: executionId },
      {
        onData: ({ data: frame }) => {
          if (frame.event === "token") setText((before) => before + String(frame.data.text ?? ""));
        },
        onComplete: stop,
        onError: stop,
      },
    );
  }

  const leave = useCallback(() => following.current?.unsubscribe(), []);

  function clear() {
    leave();
    setText("");
    setStreaming(false);
  }

  return { text, isStreaming, follow, leave, clear };
}

/** The job, polled until it has ended, and a function to cancel it. */
function useWatchedJob(jobId: string | null) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const watched = useQuery({
    ...trpc.jobs.get.queryOptions({ job_id: jobId ?? "" }),
    enabled: jobId !== null,
    refetchInterval: ({ state }) => (state.data ? pollMs(state.data) : false),
    meta: { isShownInPlace: true },
  });
  const canceling = useAction(
    { ...trpc.jobs.cancel.mutationOptions() },
    { onDone: (fresh) => queryClient.setQueryData(trpc.jobs.get.queryKey({ job_id: fresh.jobId }), fresh) },
  );
  return { watched, canceling };
}
