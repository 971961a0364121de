"use client";
import { useCallback, useEffect, useState } from "react";
import type { Failure } from "@/components/data/trpc";
import { UNREACHABLE } from "@/components/data/unreachable";
import { TERMINAL } from "@/server/contract/enums";
import type { Job } from "@/server/contract/jobs";
import { type PanelApi, Refusal } from "./api";
import type { ToHost } from "./protocol";

type Run = { isSending: boolean; job: Job | null; failure: Failure | null };
const IDLE: Run = { isSending: false, job: null, failure: null };

const NO_RESPONSE: Failure = {
  message: UNREACHABLE,
  code: null,
  requestId: null,
  isSignedOut: false,
  details: {},
  issues: [],
};

/** Runs one job at a time and notifies the host when it is submitted and when it ends. */
export function useJob(
  api: PanelApi,
  capabilityKey: string,
  tell: (message: ToHost) => void,
  onEnded: () => void,
) {
  const [run, setRun] = useState<Run>(IDLE);
  const failed = useCallback(
    (cause: unknown) => {
      if (cause instanceof Refusal && cause.status === 401) return onEnded();
      const failure = cause instanceof Refusal ? cause.failure : NO_RESPONSE;
      setRun((before) => ({ ...before, isSending: false, failure }));
    },
    [onEnded],
  );

  async function start(input: Record<string, unknown>) {
    setRun({ ...IDLE, isSending: true });
    try {
      // One idempotency key per click, so a request that the browser or a proxy sends twice starts one job.
      const key = { "idempotency-key": crypto.randomUUID() };
      const job = await api.json<Job>(`/v1/capabilities/${capabilityKey}/jobs`, { input }, key);
      setRun({ ...IDLE, job });
      tell({ type: "job.submitted", jobId: job.jobId });
    } catch (cause) {
      failed(cause);
    }
  }

  const { job } = run;
  const hasEnded = job !== null && TERMINAL.includes(job.status);
  useEffect(() => {
    if (!job || hasEnded) return;
    let isGone = false;
    const timer = setTimeout(
      async () => {
        try {
          const fresh = await api.json<Job>(`/v1/jobs/${job.jobId}`);
          if (isGone) return;
          setRun({ ...IDLE, job: fresh });
          if (!TERMINAL.includes(fresh.status)) return;
          const artifacts = fresh.artifacts.map(({ artifactId }) => ({ artifactId }));
          tell({ type: "job.completed", jobId: fresh.jobId, status: fresh.status, artifacts });
        } catch (cause) {
          if (isGone) return;
          failed(cause);
          // The job keeps running when the connection drops, so poll again.
          setRun((before) => ({ ...before, job: { ...job } }));
        }
      },
      (job.pollAfterSeconds ?? 1) * 1000,
    );
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [job, hasEnded, api, tell, failed]);

  return { ...run, hasEnded, isBusy: run.isSending || (job !== null && !hasEnded), start };
}
