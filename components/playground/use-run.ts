"use client";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { pollMs } from "@/components/jobs/job-events";
import { type Failure, toFailure, useTRPC, useTRPCClient } from "@/components/trpc";
import { useMutation } from "@/components/use-mutation";
import { JsonObject } from "@/server/contract/common";
import type { Job } from "@/server/contract/jobs";

export type Mode = "invoke_sync" | "invoke_stream" | "job_async";
export type RunRequest = { mode: Mode; body: Record<string, unknown> };

export type Run = {
  state: "idle" | "sending" | "running" | "ended";
  mode: Mode | null;
  /** The execution, as soon as it is known. */
  job: Job | null;
  jobId: string | null;
  /** What a stream has written so far. */
  text: string;
  failure: Failure | null;
  start(request: RunRequest): void;
  cancel(): void;
  canCancel: boolean;
};

/** One run of a capability: waited for, followed as it writes, or watched as a job. Its record is the job, whatever the mode. */
export function useRun(projectId: string, capabilityKey: string): Run {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const [jobId, setJobId] = useState<string | null>(null);
  const [text, setText] = useState("");
  const [isStreaming, setStreaming] = useState(false);
  const [mode, setMode] = useState<Mode | null>(null);
  const following = useRef<{ unsubscribe(): void } | null>(null);
  useEffect(() => () => following.current?.unsubscribe(), []);

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

  const sending = useMutation({
    meta: { isShownInPlace: true },
    mutationFn: async ({ mode, body }: RunRequest) => {
      const request = { project_id: projectId, capability_key: capabilityKey, body: JsonObject.parse(body) };
      if (mode === "job_async") return (await client.catalog.submit.mutate(request)).jobId;
      return (await client.catalog.invoke.mutate(request)).executionId;
    },
    onSuccess(id, request) {
      setJobId(id);
      if (request.mode === "invoke_stream") follow(id);
    },
    onError(error) {
      // A refusal after admission names the record it left.
      const { executionId } = toFailure(error).details;
      if (typeof executionId === "string") setJobId(executionId);
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.jobs.list.pathKey() }),
  });

  const watched = useQuery({
    ...trpc.jobs.get.queryOptions({ job_id: jobId ?? "" }),
    enabled: jobId !== null,
    refetchInterval: ({ state }) => (state.data ? pollMs(state.data) : false),
    meta: { isShownInPlace: true },
  });
  const canceling = useMutation({
    ...trpc.jobs.cancel.mutationOptions(),
    onSuccess: (fresh) => queryClient.setQueryData(trpc.jobs.get.queryKey({ job_id: fresh.jobId }), fresh),
  });

  const job = jobId === null ? null : (watched.data ?? null);
  const isOver = job !== null && pollMs(job) === false && !isStreaming;
  const state = sending.isPending
    ? "sending"
    : jobId !== null && !isOver
      ? sending.isError && job === null && !watched.isFetching
        ? "ended"
        : "running"
      : sending.isError || isOver
        ? "ended"
        : "idle";

  return {
    state,
    mode,
    job,
    jobId,
    text,
    failure: sending.error ? toFailure(sending.error) : null,
    start(request) {
      following.current?.unsubscribe();
      setJobId(null);
      setText("");
      setStreaming(false);
      setMode(request.mode);
      sending.mutate({ ...request, body: { ...request.body, idempotencyKey: crypto.randomUUID() } });
    },
    cancel: () => jobId !== null && canceling.mutate({ job_id: jobId }),
    canCancel: state === "running" && jobId !== null && !canceling.isPending && job?.status !== "canceling",
  };
}
