import { z } from "zod";
import { RETENTION_DAYS, RetentionRequirement } from "@/server/contract/envelope";
import type { Json } from "@/server/platform/durable/step";
import { DAY_MS } from "@/server/platform/time/units";

const Shortened = z.partialRecord(RetentionRequirement, z.number().positive());

/**
 * Returns how long content is kept, in milliseconds, or null if it is kept until it is deleted. A project's settings
 * may shorten the time. The history of the organization's plan shortens it too, unless the content is kept until it is
 * deleted.
 */
export function keptMs(
  retentionRequirement: string,
  settings: Record<string, Json> = {},
  historyDays: number | null = null,
): number | null {
  const requirement = Requirement.parse(retentionRequirement);
  const standard = RETENTION_DAYS[requirement];
  const shorter =
    settings.retentionDays === undefined ? undefined : readShortened(settings.retentionDays)[requirement];
  const days = shorter === undefined ? standard : Math.min(shorter, standard ?? shorter);
  return days === null ? null : Math.round(Math.min(days, historyDays ?? days) * DAY_MS);
}

const Requirement = RetentionRequirement.catch("Transient");
const Readable = Shortened.catch({});
const readShortened = (value: Json) => Readable.parse(value);

/** Returns the time from which content stored now may be removed, or null if it is never removed automatically. */
export const keptUntil = (ms: number | null, now: Date) =>
  ms === null ? null : new Date(now.getTime() + ms);
