import { pool } from "@/server/platform/db";

/* Leases end by the database's clock, which no test moves. A test moves the leases into the past instead. */

/** Ages the leases of these rows by `ms`; `condition` may use `$2`. */
export async function leasesPass(
  table: string,
  ms: number,
  condition: string,
  value: unknown,
): Promise<void> {
  await pool.query(
    `UPDATE ${table} SET lease_until = lease_until - $1 * interval '1 millisecond' WHERE lease_until IS NOT NULL AND ${condition}`,
    [ms, value],
  );
}

/** Ages the leases of a project's jobs, pinned executions, bulks and deliveries. */
export async function projectLeasesPass(projectId: string, ms: number): Promise<void> {
  for (const table of ["job", "pinned_execution", "pinned_bulk", "delivery"])
    await leasesPass(table, ms, "project_id = $2", projectId);
}
