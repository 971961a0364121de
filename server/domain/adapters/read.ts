import type { z } from "zod";
import type { ListAdapters, ModelAdapter, ModelAdapterPage } from "@/server/contract/adapters";
import { pool } from "@/server/db";
import type { Ctx } from "@/server/domain/ctx";
import { placeOf } from "./place";
import { ADAPTER_COLUMNS, type AdapterRow, findAdapter, pageOf, readCursor, toAdapter } from "./rows";

/** The adapters of an environment, newest first. */
export async function list(
  ctx: Ctx,
  query: z.output<typeof ListAdapters>,
): Promise<z.output<typeof ModelAdapterPage>> {
  const { projectId, environment } = await placeOf(ctx, query, "jobs:read");
  const { rows } = await pool.query<AdapterRow>(
    `SELECT ${ADAPTER_COLUMNS} FROM model_adapter adapter
     WHERE adapter.project_id = $1 AND adapter.environment = $2 AND adapter.deleted_at IS NULL
       AND ($3::text IS NULL OR adapter.id < $3)
     ORDER BY adapter.id DESC LIMIT $4`,
    [projectId, environment, readCursor(query.cursor, "adapter"), query.limit + 1],
  );
  return pageOf(rows, query.limit, toAdapter);
}

/** One adapter. */
export async function get(ctx: Ctx, adapterId: string): Promise<ModelAdapter> {
  return toAdapter(await findAdapter(ctx, adapterId, "jobs:read"));
}
