import type { Settings } from "@/server/domain/plans";
import { organization } from "@/server/generated/schema";
import type { Transaction } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { jsonb, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";

const lock = statement("organization.lock", {
  params: { organizationId: text },
  row: { display_name: organization.display_name, settings: jsonb<Settings>() },
  sql: "SELECT display_name, settings FROM organization WHERE id = $organizationId FOR NO KEY UPDATE",
});

/**
 * Locks an organization until the end of the transaction: transactions that add rows limited by its plan run
 * one after the other here, so that their counts stay correct.
 */
export async function lockOrganization(
  client: Transaction,
  organizationId: string,
): Promise<{ displayName: string; settings: Settings }> {
  const row =
    (await lock.first(client, { organizationId })) ?? fail("NotFound", "There is no such organization.");
  return { displayName: row.display_name, settings: row.settings };
}
