/** Where the events of a job, gathered page by page, are kept in the query client. */
export function eventsKey(jobId: string) {
  return ["gathered events", jobId] as const;
}
