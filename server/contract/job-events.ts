import { z } from "zod";
import { DateTime, JsonObject, pageLimit } from "./common";

export const JobEvent = z
  .object({
    id: z.string(),
    cursor: z.string(),
    type: z.string(),
    jobId: z.string(),
    projectId: z.string(),
    createdAt: DateTime,
    payload: JsonObject,
  })
  .meta({ id: "JobEvent" });
export type JobEvent = z.output<typeof JobEvent>;

/** The id of the event to continue after. It can be larger than the last id, with any number of digits. */
export const EventCursor = z.string().regex(/^\d+$/, "not a valid cursor for this stream");
export const EventsQuery = z.object({
  cursor: EventCursor.optional(),
  type: z.string().max(100).optional(),
  limit: pageLimit(200, 50),
});
export const JobEventPage = z.object({
  events: z.array(JobEvent),
  nextCursor: z.string().optional(),
  resumeCursor: z
    .string()
    .optional()
    .describe("The job's last event. Only where `cursor` is beyond it: go on after this one."),
});
export type JobEventPage = z.output<typeof JobEventPage>;
