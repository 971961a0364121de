import { z } from "zod";
import { RETENTION_DAYS, RetentionRequirement } from "@/server/contract/envelope";
import type { Json } from "@/server/step";
import type { JobRow } from "./rows";

const DAY_MS = 86_400_000;
const Shortened = z.partialRecord(RetentionRequirement, z.number().positive());

/** How long content is kept, in milliseconds; null: until it is deleted. A project's settings may shorten it. */
export function keptMs(retentionRequirement: string, settings: Record<string, Json> = {}): number | null {
  const requirement = RetentionRequirement.catch("Transient").parse(retentionRequirement);
  const standard = RETENTION_DAYS[requirement];
  const shorter =
    settings.retentionDays === undefined ? undefined : readShortened(settings.retentionDays)[requirement];
  const days = shorter === undefined ? standard : Math.min(shorter, standard ?? shorter);
  return days === null ? null : Math.round(days * DAY_MS);
}

const readShortened = (value: Json) => Shortened.catch({}).parse(value);

const after = (ms: number | null, now: Date) => (ms === null ? null : new Date(now.getTime() + ms));

/** When content that is stored now may be removed, as every project has it. */
export const contentExpiry = (retentionRequirement: string, now: Date) =>
  after(keptMs(retentionRequirement), now);

/** The same for this job: as long as its request was to be kept when it was admitted, where that is known. */
export function expiryOf(
  job: Pick<JobRow, "retention_requirement" | "content_kept_ms">,
  now: Date,
): Date | null {
  return job.content_kept_ms === undefined
    ? contentExpiry(job.retention_requirement, now)
    : after(job.content_kept_ms, now);
}
