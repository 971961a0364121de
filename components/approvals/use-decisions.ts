"use client";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { useActionPerInput } from "@/components/blocks/data/use-action";
import { useTRPC } from "@/components/data/trpc";
import { toast } from "@/components/ui/toaster";

export type Decision = "approve" | "reject";

const UNDO_MS = 6_000;
const DONE: Record<Decision, string> = { approve: "Job approved", reject: "Job rejected" };

type Waiting = { decision: Decision; timer: ReturnType<typeof setTimeout> };

/**
 * Decisions on waiting jobs. Each is sent six seconds after it was made and can be undone until then; leaving the page sends
 * the unsent ones. `decided` has the jobs to omit from the list.
 */
export function useDecisions(): {
  decided: ReadonlySet<string>;
  decide(jobId: string, decision: Decision): void;
} {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set());
  const waiting = useRef(new Map<string, Waiting>());

  const giveBack = useCallback((jobId: string) => {
    setDecided((before) => new Set([...before].filter((each) => each !== jobId)));
  }, []);
  const options = {
    onSettled: async (_: unknown, __: unknown, { job_id }: { job_id: string }) => {
      await Promise.all([
        queryClient.invalidateQueries({ queryKey: trpc.jobs.pathKey() }),
        queryClient.invalidateQueries({ queryKey: trpc.approvals.pathKey() }),
      ]);
      giveBack(job_id); // a refused decision shows the job again, and so does a later step that needs approval
    },
  };
  const { mutate: approve } = useActionPerInput(trpc.jobs.approve.mutationOptions(options), {});
  const { mutate: reject } = useActionPerInput(trpc.jobs.reject.mutationOptions(options), {});

  const take = useCallback((jobId: string): Waiting | undefined => {
    const held = waiting.current.get(jobId);
    if (!held) return undefined;
    clearTimeout(held.timer);
    waiting.current.delete(jobId);
    toast.dismiss(jobId);
    return held;
  }, []);
  const send = useCallback(
    (jobId: string) => {
      const held = take(jobId);
      if (held) (held.decision === "approve" ? approve : reject)({ job_id: jobId });
    },
    [take, approve, reject],
  );

  function decide(jobId: string, decision: Decision) {
    if (waiting.current.has(jobId)) return;
    setDecided((before) => new Set(before).add(jobId));
    toast.show(DONE[decision], {
      id: jobId,
      duration: UNDO_MS,
      action: { label: "Undo", onClick: () => take(jobId) && giveBack(jobId) },
    });
    waiting.current.set(jobId, { decision, timer: setTimeout(() => send(jobId), UNDO_MS) });
  }

  useEffect(() => {
    const held = waiting.current;
    // Closing the page aborts its requests, unless they are kept alive.
    function close() {
      for (const [jobId, { decision }] of held) {
        take(jobId);
        void fetch(`/api/trpc/jobs.${decision}`, {
          method: "POST",
          keepalive: true,
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ job_id: jobId }),
        });
      }
    }
    window.addEventListener("pagehide", close);
    return () => {
      window.removeEventListener("pagehide", close);
      for (const jobId of [...held.keys()]) send(jobId);
    };
  }, [send, take]);

  return { decided, decide };
}
