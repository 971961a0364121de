/*
 * A playground's unfinished run, stored for this tab. A reload finds it again by its job, or by its idempotency key
 * while the job's id is unknown.
 */

export type KeptRun = {
  mode: "invoke_sync" | "invoke_stream" | "job_async";
  idempotencyKey: string;
  jobId: string | null;
};

const nameOf = (projectId: string, capabilityKey: string) => `capstan.run ${projectId} ${capabilityKey}`;

export function keptRun(projectId: string, capabilityKey: string): KeptRun | null {
  // Only `keepRun` writes under this name.
  const text = sessionStorage.getItem(nameOf(projectId, capabilityKey));
  return text === null ? null : (JSON.parse(text) as KeptRun);
}

/** Stores a run, or removes it when it has ended. */
export function keepRun(projectId: string, capabilityKey: string, run: KeptRun | null): void {
  const name = nameOf(projectId, capabilityKey);
  if (run) sessionStorage.setItem(name, JSON.stringify(run));
  else sessionStorage.removeItem(name);
}
