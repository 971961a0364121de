import { z } from "zod";

/*
 * The run of a playground that has not ended, kept for this tab: a reload finds it again by its job, or by the key under
 * which it was sent while the job's id was not known yet.
 */

const KeptRun = z.object({
  mode: z.enum(["invoke_sync", "invoke_stream", "job_async"]),
  idempotencyKey: z.string(),
  jobId: z.string().nullable(),
});
export type KeptRun = z.output<typeof KeptRun>;

const nameOf = (projectId: string, capabilityKey: string) => `capstan.run ${projectId} ${capabilityKey}`;

export function keptRun(projectId: string, capabilityKey: string): KeptRun | null {
  const text = sessionStorage.getItem(nameOf(projectId, capabilityKey));
  return text === null ? null : (KeptRun.safeParse(JSON.parse(text)).data ?? null);
}

/** Keeps a run, or forgets it when it has ended. */
export function keepRun(projectId: string, capabilityKey: string, run: KeptRun | null): void {
  const name = nameOf(projectId, capabilityKey);
  if (run) sessionStorage.setItem(name, JSON.stringify(run));
  else sessionStorage.removeItem(name);
}
