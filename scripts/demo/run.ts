import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Job } from "@/server/contract/jobs";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import type { Step } from "@/server/platform/durable/step";

const system = systemCtx("demo");
const MOST_MS = 120_000;

/** A run whose steps run at once and whose sleeps really wait. */
export const realStep = (): Step => ({
  runId: randomUUID(),
  run: (_id, work) => work(),
  sleep: (_id, ms) => sleep(ms),
});

/**
 * Works on a job until it ends or waits for a person. If the installation's own worker has taken the job, waits for that
 * worker. Throws after two minutes.
 */
export async function runJobToEnd(jobId: string): Promise<Job> {
  const until = Date.now() + MOST_MS;
  for (;;) {
    await jobs.run(system, jobId, realStep());
    const job = await jobs.get(system, jobId);
    if (!["queued", "running", "canceling"].includes(job.status)) return job;
    if (Date.now() > until) throw new Error(`job ${jobId} is still ${job.status}`);
    await sleep(250);
  }
}
