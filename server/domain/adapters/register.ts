import type { ModelAdapter, ModelAdapterCreate } from "@/server/contract/adapters";
import type { Ctx } from "@/server/domain/ctx";
import { keepNamed } from "@/server/domain/inputs";
import { inTransaction } from "@/server/platform/db";
import { insertAdapter, nameTaken } from "./insert";
import { requireEnvironment } from "./place";
import { described, findSource } from "./sources/sources";

/**
 * Registers weights under a name, and fixes the source to its present bytes where possible. Tensors are read
 * only from an artifact, to check it. Fields that the caller omits come from the metadata of the artifact.
 */
export async function register(
  ctx: Ctx,
  query: { projectId?: string | undefined },
  { source: named, environment, ...said }: ModelAdapterCreate,
): Promise<ModelAdapter> {
  const place = await requireEnvironment(ctx, { ...query, environment }, "adapters:write");
  const { source, fileFacts } = await findSource(ctx, place, named);
  return inTransaction(async (client) => {
    if (source.artifactId)
      await keepNamed(
        client,
        place.projectId,
        [{ artifactId: source.artifactId, field: ["source", "ref"] }],
        ctx.now(),
      );
    return (
      (await insertAdapter(ctx, client, place, { described: described(said, fileFacts), source })) ??
      nameTaken()
    );
  });
}
