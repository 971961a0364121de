import { z } from "zod";

/**
 * How the panel's lists name a job and show its result. No list of the API carries it: what was asked is content, and ends with
 * its retention.
 */
export const Work = z.object({
  capabilityKey: z.string(),
  /** What was asked, in a line (`subjectOf`). Null: without words, too long to be read for a list, not kept any more, or private. */
  subject: z.string().nullable(),
  /** Content of a private class, of which a list shows nothing. */
  isPrivate: z.boolean(),
  /** A picture of the result. Null: none, or private. */
  picture: z.object({ jobId: z.string(), artifactId: z.string() }).nullable(),
});
export type Work = z.output<typeof Work>;

/** A line of a list with the work it is about. Null: it is about no job, or of one that the reader may not see. */
export const ofWork = { work: Work.nullable() };
export type OfWork<Line> = Line & { work: Work | null };
