import { z } from "zod";

/**
 * How the panel's lists name a job and show its result. API lists do not have this: the subject is content and expires
 * with its retention.
 */
export const Work = z.object({
  capabilityKey: z.string(),
  /**
   * The request in one line (`subjectOf`). Null if there are no words, the input is too large to read for a list, it
   * was pruned, or it is private.
   */
  subject: z.string().nullable(),
  /** Content of a private class, which lists do not show. */
  isPrivate: z.boolean(),
  /** A picture of the result; null if there is none or it is private. */
  picture: z.object({ jobId: z.string(), artifactId: z.string() }).nullable(),
});
export type Work = z.output<typeof Work>;

/** The work of a list's line; null if the line is about no job, or about one that the reader cannot see. */
export const ofWork = { work: Work.nullable() };
export type OfWork<Line> = Line & { work: Work | null };
