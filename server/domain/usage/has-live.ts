import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { bool, maybe, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { usageScope } from "./scope";

const NEWEST = 200;

const readLive = statement("execution.read.is_live", {
  params: { projectId: text },
  row: { live: maybe(bool) },
  sql: `SELECT bool_or(NOT is_test AND (provider <> '' OR estimated_micros > 0)) AS live
     FROM (SELECT is_test, provider, estimated_micros FROM execution WHERE project_id = $projectId ORDER BY id DESC LIMIT ${NEWEST}) newest`,
});

/**
 * True if one of a project's 200 newest executions ran at a provider other than the sandbox, or had a
 * live price. Free work that runs here, such as arithmetic, counts as neither live nor test.
 */
export async function hasLive(ctx: Ctx, projectId: string): Promise<boolean> {
  await usageScope(ctx, { projectId });
  const row = await readLive.first(pool, { projectId });
  return row?.live ?? false;
}
