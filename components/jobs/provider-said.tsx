"use client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { z } from "zod";
import { useTRPC } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { isPrivate } from "@/server/contract/envelope";
import type { Job } from "@/server/contract/jobs";

const Said = z.looseObject({
  details: z.looseObject({
    provider: z.object({
      status: z.number().nullable(),
      code: z.string().nullable(),
      message: z.string().nullish(),
    }),
  }),
});

const saidIn = ({ error }: Job) => Said.safeParse(error).data?.details.provider;

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
