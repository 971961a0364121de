/*
 * When leases begin and end, in SQL: by the database's clock alone, asked inside the statement, so that no two processes
 * disagree and no wait before the statement counts.
 */

/** When a lease ends that begins now and lasts so many milliseconds (an expression). */
export const leaseFor = (ms: string | number): string =>
  `clock_timestamp() + ${ms} * interval '1 millisecond'`;

/** So long after its end a lease is still its owner's. */
const GRACE = "interval '3 seconds'";

/**
 * Did the lease in this column end so long ago that its owner is taken for gone? `until`: a parameter, until when that may be
 * said (`reapsUntil`).
 */
export const isAbandoned = (lease: string, until: string): string =>
  `(clock_timestamp() < ${until}::timestamptz AND ${lease} < clock_timestamp() - ${GRACE})`;

/** What such a lease ended before; null where that may not be said any more. An index can be read by it. */
export const abandonedBefore = (until: string): string =>
  `(SELECT clock_timestamp() - ${GRACE} WHERE clock_timestamp() < ${until}::timestamptz)`;
