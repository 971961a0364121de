"use client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { isObject, memberOf, textIn } from "@/components/blocks/data/unknown";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { isPrivate } from "@/server/contract/enums";
import type { Job } from "@/server/contract/jobs";

function saidIn({ error }: Job) {
  const said = memberOf(memberOf(error, "details"), "provider");
  if (!isObject(said)) return null;
  return {
    status: typeof said.status === "number" ? said.status : null,
    code: textIn(said, "code"),
    message: textIn(said, "message"),
  };
}

/** The provider's response to a failed job. A private job's message is shown only on request. */
export function ProviderSaid({ job }: { job: Job }) {
  const trpc = useTRPC();
  const [isAsked, setAsked] = useState(false);
  const whole = useQuery({
    ...trpc.jobs.content.queryOptions({ job_id: job.jobId }),
    enabled: isAsked,
    staleTime: 0,
  });
  const said = saidIn(whole.data ?? job);
  if (!said) return null;
  const { status, code, message } = said;
  const head = [status === null ? null : `HTTP ${status}`, code].filter(Boolean).join(", ");
  return (
    <div className="mt-1.5 text-xs text-muted">
      <p className="break-words">
        Provider response{head && `: ${head}`}
        {message && <q className="ml-1.5">{message}</q>}
      </p>
      {isPrivate(job.dataClassification) && !isAsked && (
        <Button size="sm" onClick={() => setAsked(true)}>
          Show provider message
        </Button>
      )}
    </div>
  );
}
