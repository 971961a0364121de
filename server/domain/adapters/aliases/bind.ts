import type { z } from "zod";
import type { AdapterQuery, RecipeBinding, RecipeBindingRequest } from "@/server/contract/adapters";
import { record } from "@/server/domain/audit";
import type { Ctx } from "@/server/domain/ctx";
import { inTransaction } from "@/server/platform/db";
import { placeOf } from "../place";
import { refuseAt } from "../rows";
import { findAlias, holdAdapter, lockAlias, type VersionRow } from "./rows";

/** Has the project's recipe keep to one version of an alias, by default its current one, while the alias moves on. */
export async function bindRecipe(
  ctx: Ctx,
  name: string,
  query: z.output<typeof AdapterQuery>,
  { versionId }: z.output<typeof RecipeBindingRequest>,
): Promise<RecipeBinding> {
  const place = await placeOf(ctx, query, "adapters:write");
  return inTransaction(async (client) => {
    await lockAlias(client, place, name);
    const alias = await findAlias(client, place, name);
    const { rows } = await client.query<VersionRow>(
      "SELECT * FROM adapter_alias_version WHERE alias_id = $1 AND id = $2",
      [alias.id, versionId || alias.version_id],
    );
    const version = rows[0];
    if (!version) refuseAt(["body", "versionId"], "This alias has no such version.", "not_found");
    if (!(await holdAdapter(client, place, version.adapter_id)))
      refuseAt(
        ["body", "versionId"],
        "The adapter of this version was deleted. Bind another version.",
        "not_found",
      );
    const boundAt = ctx.now();
    await client.query(
      `INSERT INTO adapter_binding (alias_id, project_id, version_id, bound_by, bound_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (alias_id) DO UPDATE SET version_id = $3, bound_by = $4, bound_at = $5`,
      [alias.id, place.projectId, version.id, ctx.principal.id, boundAt],
    );
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
