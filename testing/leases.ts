import { pool } from "@/server/platform/db";

/* Leases end by the database's clock, which no test moves: time passes for them when they are moved into the past. */

/** So much time passes for the leases of these rows; `condition` may name `$2`. */
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

/** The same for all that is leased of a project. */
export async function projectLeasesPass(projectId: string, ms: number): Promise<void> {
  for (const table of ["job", "pinned_execution", "pinned_bulk", "delivery"])
    await leasesPass(table, ms, "project_id = $2", projectId);
}
