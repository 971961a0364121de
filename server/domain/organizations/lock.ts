import type { Tx } from "@/server/db";
import type { Settings } from "@/server/domain/plans";
import { fail } from "@/server/errors";

/**
 * An organization as it stays until the end of the transaction: whoever adds to what its plan bounds comes one after the
 * other here, so that what they count holds.
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
