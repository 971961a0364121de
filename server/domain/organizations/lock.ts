import type { Settings } from "@/server/domain/plans";
import type { Tx } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";

/**
 * Locks an organization until the end of the transaction: transactions that add rows limited by its plan run
 * one after the other here, so that their counts stay correct.
 */
export async function lockOrganization(
  tx: Tx,
  organizationId: string,
): Promise<{ displayName: string; settings: Settings }> {
  const rows = await tx.$queryRaw<{ display_name: string; settings: Settings }[]>`
    SELECT display_name, settings FROM organization WHERE id = ${organizationId} FOR NO KEY UPDATE`;
  const row = rows[0] ?? fail("NotFound", "There is no such organization.");
  return { displayName: row.display_name, settings: row.settings };
}
