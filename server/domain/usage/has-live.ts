import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { usageScope } from "./scope";

const NEWEST = 200;

/**
 * Whether one of a project's newest executions, 200 at most, ran at a provider other than the sandbox. What runs here, such as
 * arithmetic, is free and of neither mode.
 */
export async function hasLive(ctx: Ctx, projectId: string): Promise<boolean> {
  await usageScope(ctx, { projectId });
  const { rows } = await pool.query<{ live: boolean | null }>(
    `SELECT bool_or(NOT is_test AND (provider <> '' OR estimated_micros > 0)) AS live
     FROM (SELECT is_test, provider, estimated_micros FROM execution WHERE project_id = $1 ORDER BY id DESC LIMIT ${NEWEST}) newest`,
    [projectId],
  );
  return rows[0]?.live ?? false;
}
