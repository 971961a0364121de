import type { z } from "zod";
import type { AdapterDeleted } from "@/server/contract/adapters";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { inTransaction, type Queryable } from "@/server/platform/db";
import { fail } from "@/server/platform/errors/errors";
import { findAdapter } from "./rows";

type Reference = { kind: "alias" | "default" | "binding"; name: string };

/**
 * Puts an adapter away; its row stays, because receipts name it, and its name is free again. AdapterInUse (409) while
 * the current version of an alias, a default or a binding uses it.
 */
export async function remove(ctx: Ctx, adapterId: string): Promise<z.output<typeof AdapterDeleted>> {
  const known = await findAdapter(ctx, adapterId, "adapters:write");
  return inTransaction(async (client) => {
    // A transaction that is about to reference it holds it too, so this waits and then sees the reference below.
    const { rowCount } = await client.query(
      "SELECT FROM model_adapter WHERE id = $1 AND deleted_at IS NULL FOR UPDATE",
      [known.id],
    );
    if (rowCount === 0) fail("NotFound", "There is no such adapter.");
    const references = await referencesTo(client, known.project_id, known.id);
    if (references.length > 0) {
      fail("AdapterInUse", "This adapter is in use. Promote or bind another adapter in its place first.", {
        adapterId: known.id,
        references,
      });
    }
    await client.query("UPDATE model_adapter SET deleted_at = $2 WHERE id = $1", [known.id, ctx.now()]);
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

async function referencesTo(client: Queryable, projectId: string, adapterId: string): Promise<Reference[]> {
  const { rows } = await client.query<Reference>(
    `WITH used AS (SELECT id FROM adapter_alias_version WHERE project_id = $1 AND adapter_id = $2),
       named AS (SELECT id, alias FROM adapter_alias WHERE current_version_id IN (SELECT id FROM used))
     SELECT 'alias' AS kind, alias AS name FROM named
     UNION ALL SELECT 'default', capability_key FROM adapter_default WHERE alias_id IN (SELECT id FROM named)
     UNION ALL SELECT 'binding', alias.alias FROM adapter_binding binding
       JOIN adapter_alias alias ON alias.id = binding.alias_id WHERE binding.version_id IN (SELECT id FROM used)
     ORDER BY kind, name`,
    [projectId, adapterId],
  );
  return rows;
}
