import { access } from "@/server/domain/access";
import { openContent, type StoredContent } from "@/server/domain/content";
import type { Ctx, Scope } from "@/server/domain/ctx";
import type { pinnedBulk } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import type { Of } from "@/server/sql/column";

/** A row of pinned_bulk. */
export type BulkRow = Of<typeof pinnedBulk>;

export const hasEnded = ({ status }: Pick<BulkRow, "status">) =>
  status !== "accepted" && status !== "running";

/**
 * The bulk of this id, if the caller may see it with this right. Throws the same NotFound for a missing bulk
 * and for one that the caller may not see.
 */
export async function findBulk(ctx: Ctx, bulkId: string, right: Scope): Promise<BulkRow> {
  const scope = access.authorize(ctx, right, "made rows");
  const { rows } = await pool.query<BulkRow>({
    name: "find-bulk",
    text: `SELECT * FROM pinned_bulk WHERE id = $1
       AND ($2::text[] IS NULL OR organization_id = ANY($2)) AND ($3::text IS NULL OR project_id = $3)
       AND ($4::text IS NULL OR environment = $4) AND ($5::text IS NULL OR principal_id = $5)`,
    values: [bulkId, scope.organizationIds, scope.projectId, scope.environment, scope.principalId],
  });
  return rows[0] ?? fail("NotFound", "There is no such bulk.");
}

/** Reads a bulk without checking rights, for work that has no caller. */
export async function readBulk(bulkId: string): Promise<BulkRow | null> {
  const { rows } = await pool.query<BulkRow>({
    name: "read-bulk",
    text: "SELECT * FROM pinned_bulk WHERE id = $1",
    values: [bulkId],
  });
  return rows[0] ?? null;
}

/** The request of a bulk without its items; null if it was removed. */
export async function sharedOf(bulkId: string): Promise<object | null> {
  const { rows } = await pool.query<StoredContent>({
    name: "shared-of-bulk",
    text: "SELECT id, content, is_sealed FROM payload WHERE bulk_id = $1 AND kind = 'request'",
    values: [bulkId],
  });
  const content = rows[0] && openContent(rows[0]);
  return content ? JSON.parse(content) : null;
}

/** The input of an item; null if it was removed. */
export function inputOf(stored: StoredContent): string | null {
  const content = openContent(stored);
  return content === null ? null : (JSON.parse(content) as { input: string }).input; // written by submitBulk
}
