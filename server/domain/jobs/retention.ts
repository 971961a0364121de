import { isKeptSealed } from "@/server/content";
import { keptMs, keptUntil } from "@/server/domain/envelope";
import type { JobRow } from "./rows";

/** When content that is stored now may be removed, as every project has it. */
export const contentExpiry = (retentionRequirement: string, now: Date) =>
  keptUntil(keptMs(retentionRequirement), now);

/** The same for this job: as long as its request was to be kept when it was admitted, where that is known. */
export function expiryOf(
  job: Pick<JobRow, "retention_requirement" | "content_kept_ms">,
  now: Date,
): Date | null {
  return job.content_kept_ms === undefined
    ? contentExpiry(job.retention_requirement, now)
    : keptUntil(job.content_kept_ms, now);
}

/** Is what this job takes in and puts out kept encrypted? */
export const isSealedOf = (job: Pick<JobRow, "data_classification" | "retention_requirement">) =>
  isKeptSealed(job.data_classification, job.retention_requirement);
