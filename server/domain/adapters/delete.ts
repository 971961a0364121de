import type { z } from "zod";
import type { AdapterDeleted } from "@/server/contract/adapters";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { inTransaction } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { column, present, text, timestamptz } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { findAdapter } from "./rows";

const lockAdapter = statement("model_adapter.lock.undeleted", {
  params: { adapterId: text },
  sql: "SELECT FROM model_adapter WHERE id = $adapterId AND deleted_at IS NULL FOR UPDATE",
});
const markDeleted = statement("model_adapter.update.deleted", {
  params: { adapterId: text, now: timestamptz },
  sql: "UPDATE model_adapter SET deleted_at = $now WHERE id = $adapterId",
});

/**
 * Deletes an adapter; its row stays, because receipts name it, and its name becomes free. AdapterInUse (409)
 * while the current version of an alias, a default or a binding uses it.
 */
export async function remove(ctx: Ctx, adapterId: string): Promise<z.output<typeof AdapterDeleted>> {
  const known = await findAdapter(ctx, adapterId, "adapters:write");
  return inTransaction(async (client) => {
    // A transaction that is about to reference the adapter locks it too, so this waits and then sees the
    // reference below.
    if ((await lockAdapter.count(client, { adapterId: known.id })) === 0)
      fail("NotFound", "There is no such adapter.");
    const references = await listReferences.all(client, { projectId: known.project_id, adapterId: known.id });
    if (references.length > 0) {
      fail("AdapterInUse", "This adapter is in use. Promote or bind another adapter in its place first.", {
        adapterId: known.id,
        references,
      });
    }
    await markDeleted.run(client, { adapterId: known.id, now: ctx.now() });
    await record(
      ctx,
      {
        organizationId: known.organization_id,
        projectId: known.project_id,
        action: "adapter.deleted",
        subject: known.id,
        details: { displayName: known.display_name, environment: known.environment },
      },
      client,
    );
    return { adapterId: known.id, deleted: true as const };
  });
}

const listReferences = statement("model_adapter.list.references", {
  params: { projectId: text, adapterId: text },
  row: {
    kind: present(column<"alias" | "default" | "binding">("text"), "each part selects its word"),
    name: present(text, "each part selects a column that is never null"),
  },
  sql: `WITH used AS (SELECT id FROM adapter_alias_version WHERE project_id = $projectId AND adapter_id = $adapterId),
       named AS (SELECT id, alias FROM adapter_alias WHERE current_version_id IN (SELECT id FROM used))
     SELECT 'alias' AS kind, alias AS name FROM named
     UNION ALL SELECT 'default', capability_key FROM adapter_default WHERE alias_id IN (SELECT id FROM named)
     UNION ALL SELECT 'binding', alias.alias FROM adapter_binding binding
       JOIN adapter_alias alias ON alias.id = binding.alias_id WHERE binding.version_id IN (SELECT id FROM used)
     ORDER BY kind, name`,
});
