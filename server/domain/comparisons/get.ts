import type { Comparison } from "@/server/contract/comparisons";
import type { Ctx, Scope } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import { findComparison, toComparison } from "./rows";

/** The comparison as it stands, its entries in the order that was drawn. NotFound where the caller may not see it. */
export async function get(ctx: Ctx, comparisonId: string, right: Scope = "jobs:read"): Promise<Comparison> {
  const row = await findComparison(ctx, comparisonId, right);
  // Read through the jobs' own view, which hides what betrays a competitor as long as it is blind.
  const shown = await Promise.all(row.entries.map(({ job_id }) => jobs.get(ctx, job_id, right)));
  return toComparison(row, shown, ctx.now());
}
