/** The query key of a job's events, which are collected page by page. */
export function eventsKey(jobId: string) {
  return ["gathered events", jobId] as const;
}
