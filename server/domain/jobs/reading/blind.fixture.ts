import { getCapability } from "@/server/domain/catalog";
import * as jobs from "@/server/domain/jobs";
import { newId } from "@/server/platform/ids";
import type { TestProject } from "@/testing/world";

/** Makes a comparison of sandbox models for one picture. The jobs come in the order of the entries. */
export async function compareDrawings(
  { ctx, projectId }: TestProject,
  wanted: { models?: string[]; input?: Record<string, unknown>; varied?: Record<string, unknown>[] } = {},
) {
  const { models = ["sandbox-1", "sandbox-2"], input = { prompt: "A kite" }, varied = [] } = wanted;
  const comparisonId = newId("comparison");
  const requests = models.map((preferredModel, place) => ({
    input: { ...input, ...varied[place] },
    execution: { executionConstraints: { preferredModel } },
    idempotencyKey: newId("comparisonEntry"),
  }));
  const admitted = await jobs.submitTogether(ctx, getCapability("image.generate.v1"), {
    comparisonId,
    requests: requests as never[], // as a caller sends them
    order: models.map((_, place) => place),
    refusal: (_place, cause) => cause,
    attach: async (client, made) => {
      await client.query(
        `INSERT INTO comparison (id, organization_id, project_id, environment, principal_id, capability_key, intent, request_hash,
           seed, estimated_micros, maximum_micros, created_at)
         SELECT $1, organization_id, id, 'development', $2, 'image.generate.v1', 'exploratory', 'v1:', 1, 0, 0, $3
         FROM project WHERE id = $4`,
        [comparisonId, ctx.principal.id, ctx.now(), projectId],
      );
      for (const [place, { jobId }] of made.entries()) {
        await client.query(
          `INSERT INTO comparison_entry (id, project_id, comparison_id, position, job_id, competitor)
           VALUES ($1, $2, $3, $4, $5, '{}')`,
          [newId("comparisonEntry"), projectId, comparisonId, place + 1, jobId],
        );
      }
    },
  });
  return { comparisonId, jobIds: admitted.map(({ jobId }) => jobId) };
}
