import type { z } from "zod";
import type { AdapterQuery, RecipeBinding, RecipeBindingRequest } from "@/server/contract/adapters";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { adapterBinding } from "@/server/generated/schema";
import { inTransaction } from "@/server/platform/db";
import { names, text } from "@/server/sql/column";
import { statement } from "@/server/sql/statement";
import { requireEnvironment } from "../place";
import { refuseAt } from "../rows";
import { ALIAS_VERSION, findAlias, holdAdapter, lockAlias } from "./rows";

const readVersion = statement("adapter_alias_version.read.alias", {
  params: { aliasId: text, versionId: text },
  row: ALIAS_VERSION,
  sql: `SELECT ${names(ALIAS_VERSION)} FROM adapter_alias_version WHERE alias_id = $aliasId AND id = $versionId`,
});
const saveBinding = statement("adapter_binding.save", {
  params: adapterBinding,
  sql: `INSERT INTO adapter_binding (alias_id, project_id, version_id, bound_by, bound_at)
     VALUES ($alias_id, $project_id, $version_id, $bound_by, $bound_at)
     ON CONFLICT (alias_id) DO UPDATE SET version_id = $version_id, bound_by = $bound_by, bound_at = $bound_at`,
});

/**
 * Binds the project's recipe to one version of an alias, by default its current one; the binding stays while
 * the alias moves on.
 */
export async function bindRecipe(
  ctx: Ctx,
  name: string,
  query: z.output<typeof AdapterQuery>,
  { versionId }: z.output<typeof RecipeBindingRequest>,
): Promise<RecipeBinding> {
  const place = await requireEnvironment(ctx, query, "adapters:write");
  return inTransaction(async (client) => {
    await lockAlias(client, place, name);
    const alias = await findAlias(client, place, name);
    const version = await readVersion.first(client, {
      aliasId: alias.id,
      versionId: versionId || alias.version_id,
    });
    if (!version) refuseAt(["body", "versionId"], "This alias has no such version.", "not_found");
    if (!(await holdAdapter(client, place, version.adapter_id)))
      refuseAt(
        ["body", "versionId"],
        "The adapter of this version was deleted. Bind another version.",
        "not_found",
      );
    const boundAt = ctx.now();
    await saveBinding.run(client, {
      alias_id: alias.id,
      project_id: place.projectId,
      version_id: version.id,
      bound_by: ctx.principal.id,
      bound_at: boundAt,
    });
    await record(
      ctx,
      {
        organizationId: place.project.organizationId,
        projectId: place.projectId,
        action: "adapter_alias.bound",
        subject: alias.id,
        details: {
          alias: alias.alias,
          environment: place.environment,
          versionId: version.id,
          number: version.number,
        },
      },
      client,
    );
    return {
      alias: alias.alias,
      versionId: version.id,
      number: version.number,
      projectId: place.projectId,
      environment: place.environment,
      boundAt: boundAt.toISOString(),
    };
  });
}
