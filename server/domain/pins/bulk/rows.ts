import { access } from "@/server/domain/access";
import { openContent, type StoredContent } from "@/server/domain/content";
import type { Ctx, Scope } from "@/server/domain/ctx";
import { payload, pinnedBulk } from "@/server/generated/schema";
import { pool } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { type Of, pick, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { IN_SCOPE, readInScope, SCOPE } from "@/server/sql/tenant";

/** A row of pinned_bulk. */
export type BulkRow = Of<typeof pinnedBulk>;

export const hasEnded = ({ status }: Pick<BulkRow, "status">) =>
  status !== "accepted" && status !== "running";

const findInScope = statement("bulk.find.in_scope", {
  params: { bulkId: text, ...SCOPE },
  row: pinnedBulk,
  sql: `SELECT * FROM pinned_bulk WHERE id = $bulkId AND ${IN_SCOPE}`,
  prepared: true,
});

/**
 * The bulk of this id, if the caller may see it with this right. Throws the same NotFound for a missing bulk
 * and for one that the caller may not see.
 */
export async function findBulk(ctx: Ctx, bulkId: string, right: Scope): Promise<BulkRow> {
  const scope = access.authorize(ctx, right, "made rows");
  const [row] = await readInScope(findInScope, scope, { bulkId });
  return row ?? fail("NotFound", "There is no such bulk.");
}

const readById = statement("bulk.read", {
  params: { bulkId: text },
  row: pinnedBulk,
  sql: "SELECT * FROM pinned_bulk WHERE id = $bulkId",
  prepared: true,
});

/** Reads a bulk without checking rights, for work that has no caller; null if there is none. */
export const readBulk = (bulkId: string): Promise<BulkRow | null> => readById.first(pool, { bulkId });

const readShared = statement("bulk.read.shared_content", {
  params: { bulkId: text },
  row: pick(payload, "id content is_sealed"),
  sql: "SELECT id, content, is_sealed FROM payload WHERE bulk_id = $bulkId AND kind = 'request'",
  prepared: true,
});

/** The request of a bulk without its items; null if it was removed. */
export async function sharedOf(bulkId: string): Promise<object | null> {
  const stored = await readShared.first(pool, { bulkId });
  const content = stored && openContent(stored);
  return content ? JSON.parse(content) : null;
}

/** The input of an item; null if it was removed. */
export function inputOf(stored: StoredContent): string | null {
  const content = openContent(stored);
  return content === null ? null : (JSON.parse(content) as { input: string }).input; // written by submitBulk
}
