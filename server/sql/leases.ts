/*
 * Start and end of leases, in SQL. Only the database's clock is used, read inside the statement, so that
 * processes agree and the time before the statement runs does not count.
 */

/** SQL for the end of a lease that starts now and lasts `ms` milliseconds (a number or an expression). */
export const leaseFor = (ms: string | number): string =>
  `clock_timestamp() + ${ms} * interval '1 millisecond'`;

/** A lease still belongs to its owner for this long after its end. */
const GRACE = "interval '3 seconds'";

/**
 * SQL condition: the lease in this column ended so long ago that its owner counts as gone. `until` is a parameter, the time
 * until which this may be concluded (`reapsUntil`).
 */
export const isAbandoned = (lease: string, until: string): string =>
  `(clock_timestamp() < ${until}::timestamptz AND ${lease} < clock_timestamp() - ${GRACE})`;

/**
 * SQL for the time before which an abandoned lease ended; null once `until` has passed. An index can be
 * searched with this value.
 */
export const abandonedBefore = (until: string): string =>
  `(SELECT clock_timestamp() - ${GRACE} WHERE clock_timestamp() < ${until}::timestamptz)`;
